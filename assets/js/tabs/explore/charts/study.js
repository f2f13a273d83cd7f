/** The figures below the fold. Plotly's script is large, so it is asked for when somebody looks. What is drawn of a run grows
 *  while it is written, at most twice a second; at which layer the model knew is read at its end, by the server. */

import { figuresOf } from "../../../shared/plots/figure-run.js";
import { covered, onCover } from "../../../shared/kit/curtain.js";
import { isDark } from "../../../shared/kit/theme.js";

const PATIENCE_MS = 8000;
const PAUSE_MS = 500; // between two drawings
const WALL = 1800; // px: from there on the page is one that is thrown on a wall, as in the style sheets

export class Study {
  /** @param {{trigger: Function}} ports @param {import("../../../shared/run/trace.js").Feed} feed @param {boolean} served there are such figures */
  constructor(ports, feed, served = true) {
    this.ports = ports;
    this.feed = feed;
    this.read = ""; // of which run, and for which look, the layers were asked for
    this.drawn = ""; // what is drawn of the run, and for which look
    this.last = -Infinity; // ms: when it was drawn
    this.later = 0; // a drawing that waits
    /** @type {((model: import("../../../shared/run/trace.js").TraceModel, over: boolean) => void)|null} */ this.paint =
      null; // of the figures that grow
    /** @type {Set<Element>} */ const inSight = new Set();
    this.inSight = inSight;
    this.watch = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) isIntersecting ? inSight.add(target) : inSight.delete(target);
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
    });
  }

  /** Draws what is in sight and not drawn yet of this run, for this theme and size. */
  draw() {
    if (!this.inSight.size) return figuresOf(this.feed.run);
    this._layers();
    const { model } = this.feed;
    const now = performance.now();
    const wanted = `${this.feed.run} ${model?.version} ${this.feed.final} ${isDark()} ${innerWidth}`;
    if (!this.paint || !model?.header || wanted === this.drawn || this.later) return;
    if (now < this.last + PAUSE_MS) {
      this.later = setTimeout(
        () => {
          this.later = 0;
          this.draw();
        },
        this.last + PAUSE_MS - now,
      );
      return;
    }
    this.drawn = wanted;
    this.last = now;
    this.paint(model, this.feed.final);
  }

  /** At which layer the model knew. */
  _layers() {
    const { run, model, final } = this.feed;
    figuresOf(run);
    const look = { dark: isDark(), wall: innerWidth >= WALL };
    const wanted = `${run} ${look.dark} ${look.wall}`;
    if (!final || !model?.reports.some((one) => one.notes?.depths) || this.read === wanted) return;
    this.read = wanted;
    this.ports.trigger("figures", { run, ...look });
  }

  /** Draws them for somebody who asks for one of them, and brings that one into sight. @param {string} selector */
  show(selector) {
    this._layers();
    const figure = document.querySelector(selector);
    const look = () => {
      figure?.scrollIntoView({
        block: "start",
        behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth",
      });
      /** @type {HTMLElement|null|undefined} */ (figure?.querySelector(".hx-figure-view"))?.focus({
        preventScroll: true,
      });
    };
    const drawn = () => figure?.querySelector(".js-plotly-plot");
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
    const [own, wide] = ["figures", "figures-wide"].map((id) => document.getElementById(id));
    if (!own || !wide) return void setTimeout(() => this._find(), 300);
    void this._grow(own);
    for (const place of [own, wide]) this.watch.observe(place);
    // A wide figure is scrolled by the arrow keys.
    document.querySelector("#figure-depths-panel .hx-figure-view")?.setAttribute("tabindex", "0");
  }
  /** Puts the figures that grow into their place. @param {HTMLElement} place */
  async _grow(place) {
    const { growing } = await import("./run-plots.js");
    const host = place.querySelector(".hx-run-plots") ?? place;
    if (host.childElementCount) return;
    const { els, paint, label } = growing();
    host.append(...els);
    host.setAttribute("role", "group");
    host.setAttribute("aria-label", label);
    this.paint = paint;
    this.draw();
  }
}
