/** The figures below the fold. Plotly's script is large, so they are asked for when somebody looks, once per run and theme. */

import { isDark } from "./theme.js";

export class Study {
  /** @param {{trigger: Function}} ports @param {{run: string|null, final: boolean}} feed */
  constructor(ports, feed) {
    this.ports = ports;
    this.feed = feed;
    this.seen = false;
    this.drawn = "";
    this.watch = new IntersectionObserver((entries) => {
      this.seen = entries.some((entry) => entry.isIntersecting);
      this.draw();
    });
    this._find();
  }

  /** Draws if they are in view and not drawn yet for this run and theme. */
  draw() {
    const wanted = `${this.feed.run} ${isDark()}`;
    if (!this.feed.final || !this.seen || this.drawn === wanted) return;
    this.drawn = wanted;
    this.ports.trigger("figures", { run: this.feed.run, dark: isDark() });
  }

  /** Gradio may mount the panels after us. */
  _find() {
    const panels = document.querySelector("#figures");
    if (panels) this.watch.observe(panels);
    else setTimeout(() => this._find(), 300);
  }
}
