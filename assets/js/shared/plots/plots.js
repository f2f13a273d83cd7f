/** Plotly figures whose data and layout come from the server. Each has a heading, a description and its table. */

import { SEPARATORS } from "../../../text/numbers.js";
import { h, say } from "../kit/dom.js";
import { pictureButton } from "../kit/picture/button.js";
import { FIGURE } from "../../../text/en/page.js";

/** @type {Promise<any>|null} */ let loading = null; // plotly's own script, asked for once per page

/** @param {string} url where its script is @returns {Promise<any>} */
export function plotly(url) {
  return (loading ??= new Promise((resolve, reject) => {
    const { Plotly, hxRun } = /** @type {any} */ (globalThis);
    if (Plotly) return void resolve(Plotly);
    if (hxRun) return void hxRun(url).then(() => resolve(/** @type {any} */ (globalThis).Plotly), reject); // a page without a server
    const script = h("script", { src: url });
    script.onload = () => resolve(/** @type {any} */ (globalThis).Plotly);
    script.onerror = () => {
      loading = null;
      reject(new Error(FIGURE.noPlots));
    };
    document.head.append(script);
  }));
}

const painted = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));

/** What a figure shows; its data and layout are plotly's. read: a value in words.
 *  @typedef {{title: string, text: string, figure: {data: any[], layout: any}|null, table?: {columns: string[], rows: unknown[][]}|null,
 *    read?: (curve: number, point: number) => string}} Shown */

const CONFIG = { displaylogo: false, responsive: true, displayModeBar: false };

/** One figure with its words and its table; drawn only while it is in sight. */
export class Plot {
  /** @param {string} name @param {{url: string, label: string, className?: string, reads?: string, onPoint?: (point: object|null) => void}} options reads: what
   *  whoever hears the page is told of reading it value by value; without it nobody does */
  constructor(name, { url, label, className = "hx-panel", reads = "", onPoint = () => {} }) {
    this.name = name;
    this.url = url;
    this.onPoint = onPoint;
    /** @type {Shown["figure"]} */ this.wanted = null;
    this.seen = false;
    this.title = h("h2.hx-plan-h.hx-figure-title");
    this.text = h("p.hx-plan-text.hx-figure-text");
    this.view = h("div.hx-plot", { role: "img", "aria-label": label });
    this.beside = h("div.hx-plot-beside");
    this.table = h("div.hx-figure-scroll", { tabindex: "0" });
    this.details = h("details.hx-figure-data", [h("summary", FIGURE.table), this.table]);
    /** @type {[number, number]} */ this.at = [0, -1]; // the value that is read: its curve and its place there
    /** @type {Shown|null} */ this.shown = null;
    this.reader = reads ? this._reader(reads) : null;
    this.el = h("section", { class: `${className} hx-plot-${name}`, "aria-label": label }, [
      h("div.hx-pictured", [
        this.title,
        pictureButton(
          () => this.view,
          () => this.title.textContent ?? name,
        ),
      ]),
      this.text,
      h("div.hx-plot-room", [this.view, this.reader]),
      this.beside,
      this.details,
    ]);
    new IntersectionObserver(
      (entries) => {
        this.seen = entries[entries.length - 1].isIntersecting;
        this._draw();
      },
      { rootMargin: "200px" },
    ).observe(this.view);
  }

  /** @param {Shown} shown */
  show(shown) {
    this.shown = shown;
    say(this.title, shown.title);
    say(this.text, shown.text);
    this.view.hidden = !shown.figure;
    this.el.dataset.bare = String(!shown.figure);
    this.view.setAttribute("aria-label", FIGURE.said(shown.title, shown.text));
    this.details.hidden = !shown.table?.rows.length;
    this.details.firstElementChild?.setAttribute("aria-label", FIGURE.tableOf(shown.title));
    this.table.replaceChildren(table(shown.table));
    this.wanted = shown.figure;
    this._draw();
  }

  async _draw() {
    if (!this.wanted || !this.seen || this.drawing) return;
    this.drawing = true;
    try {
      const Plotly = await plotly(this.url);
      while (this.wanted && this.seen) {
        await painted(); // the numbers come first
        if (!this.wanted) break;
        const { data, layout: wanted } = this.wanted;
        const layout = { ...wanted, separators: SEPARATORS };
        this.wanted = null;
        await Plotly.react(this.view, data, layout, CONFIG);
      }
      this._listen();
    } catch (/** @type {any} */ error) {
      this.view.replaceChildren(h("p.hx-plan-text", error.message));
    } finally {
      this.drawing = false;
    }
  }

  /** Lights a point up as a pointer would; null puts it out. @param {number|null} curve @param {number} [point] */
  hover(curve, point) {
    const { Plotly } = /** @type {Record<string, any>} */ (globalThis);
    if (Plotly && "data" in this.view)
      Plotly.Fx.hover(this.view, curve === null ? [] : [{ curveNumber: curve, pointNumber: point }]);
  }

  /** Reads the values one by one: left and right along a curve, up and down to another. @param {string} label */
  _reader(label) {
    const read = (/** @type {KeyboardEvent} */ event) => {
      const data = this.shown?.figure?.data ?? [];
      const [curve, point] = this.at;
      const last = (data[curve]?.x.length ?? 0) - 1;
      const to = {
        ArrowLeft: [curve, point - 1],
        ArrowRight: [curve, point + 1],
        Home: [curve, 0],
        End: [curve, last],
      };
      const found = { ...to, ArrowUp: [curve - 1, point], ArrowDown: [curve + 1, point] }[event.key];
      if (!found || !data.length || !this.shown?.read) return;
      event.preventDefault();
      event.stopPropagation(); // the arrows also lead through the run
      const own = Math.min(data.length - 1, Math.max(0, found[0]));
      this.at = [own, Math.min(data[own].x.length - 1, Math.max(0, found[1]))];
      reader.setAttribute("aria-valuemax", String(data[own].x.length));
      reader.setAttribute("aria-valuenow", String(this.at[1] + 1));
      reader.setAttribute("aria-valuetext", this.shown.read(...this.at));
      this.hover(...this.at);
    };
    const reader = h("div.hx-plot-reader", {
      ...{ role: "slider", tabindex: "0", "aria-label": label, "aria-valuemin": "1" },
      ...{ "aria-valuemax": "1", "aria-valuenow": "1", "aria-valuetext": FIGURE.unread },
      onkeydown: read,
      onblur: () => this.hover(null),
    });
    return reader;
  }

  _listen() {
    const view = /** @type {any} */ (this.view); // with what plotly has added
    if (this.listening || !view.on) return;
    this.listening = true;
    view.on("plotly_hover", (/** @type {{points: object[]}} */ event) => this.onPoint(event.points[0]));
    view.on("plotly_unhover", () => this.onPoint(null));
  }
}

/** A table, by textContent only. @param {Shown["table"]} shown */
export function table(shown) {
  if (!shown) return "";
  return h("table", [
    h("thead", [h("tr", [shown.columns.map((name) => h("th", { scope: "col", text: name }))])]),
    h("tbody", [
      shown.rows.map((row) =>
        h("tr", [row.map((value, i) => h(i ? "td" : "th", { scope: i ? null : "row", text: String(value) }))]),
      ),
    ]),
  ]);
}
