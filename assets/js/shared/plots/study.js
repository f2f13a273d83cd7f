/** The figures below the fold. Plotly's script is large, so they are asked for when somebody looks, once per run,
 *  theme and size. */

import { figuresOf } from "./figure-run.js";
import { covered, onCover } from "../kit/curtain.js";
import { isDark } from "../kit/theme.js";

const PATIENCE_MS = 8000;
const WALL = 1800; // px: from there on the page is one that is thrown on a wall, as in the style sheets

export class Study {
  /** @param {{trigger: Function}} ports @param {{run: string|null, final: boolean}} feed @param {boolean} served there are such figures */
  constructor(ports, feed, served = true) {
    this.ports = ports;
    this.feed = feed;
    this.seen = false;
    this.drawn = "";
    /** @type {Set<Element>} */ const inSight = new Set();
    this.watch = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) isIntersecting ? inSight.add(target) : inSight.delete(target);
        this.seen = inSight.size > 0;
        this.draw();
      },
      { rootMargin: "-1px" }, // what begins where the window ends is not in sight
    );
    if (!served) return;
    if (!covered()) this._find();
    // Below the story the page has no height yet: what seems in sight is not, and plotly would be fetched for nothing.
    onCover((on) => {
      if (!on) return this._find();
      this.watch.disconnect();
      inSight.clear();
      this.seen = false;
    });
  }

  /** Draws if they are in view and not drawn yet for this run, theme and size. */
  draw() {
    figuresOf(this.feed.run);
    const look = { dark: isDark(), wall: innerWidth >= WALL };
    const wanted = `${this.feed.run} ${look.dark} ${look.wall}`;
    if (!this.feed.final || !this.seen || this.drawn === wanted) return;
    this.drawn = wanted;
    this.ports.trigger("figures", { run: this.feed.run, ...look });
  }

  /** Draws them for somebody who asks for one of them, and brings that one into sight. */
  show(selector) {
    this.seen = true;
    this.draw();
    const figure = document.querySelector(selector);
    const look = () => {
      figure.scrollIntoView({
        block: "start",
        behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth",
      });
      figure.querySelector(".hx-figure-view")?.focus({ preventScroll: true });
    };
    const drawn = () => figure.querySelector(".js-plotly-plot");
    if (!figure || drawn()) return void (figure && look());
    // Its place is known once it is there in full; before, the page may be too short to scroll to it.
    const watch = new ResizeObserver(() => {
      if (drawn()) {
        watch.disconnect();
        look();
      }
    });
    watch.observe(figure);
    setTimeout(() => watch.disconnect(), PATIENCE_MS); // nobody is thrown down the page later on
  }

  /** Gradio may mount the panels after us. */
  _find() {
    const panels = document.querySelector("#figures");
    if (panels) {
      for (const id of ["figures", "figures-wide"])
        this.watch.observe(/** @type {Element} */ (document.getElementById(id)));
      // A wide figure is scrolled by the arrow keys.
      document.querySelector("#figure-depths-panel .hx-figure-view")?.setAttribute("tabindex", "0");
    } else setTimeout(() => this._find(), 300);
  }
}
