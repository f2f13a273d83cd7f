/** The figures of recordings below Explore, in a page without a server: what a server draws, out of its answers
 *  (app/site/figures_ahead.py). */

import { h } from "../shared/kit/dom.js";
import { seenAs } from "../tabs/planner/ahead/seen-as.js";
import { fill } from "../shared/plots/notes.js";
import { plotly } from "../shared/plots/plots.js";
import { RECORDED } from "../shared/visit/journey.js";

/** @typedef {{note: any, data: any[], layout: Record<string, any>}} Figure */

const CONFIG = { displaylogo: false, responsive: true };

/**
 * What was drawn for one look, by the figures' names. @param {{parts: any[], value: any}} packed
 * @param {boolean} dark @param {boolean} wall @returns {Record<string, Figure>}
 */
export const seen = ({ parts, value }, dark, wall) => seenAs(parts, value, 2 * Number(wall) + Number(dark));

/** A figure's layout as Gradio has it drawn. @param {Figure} figure @param {any} template */
export const whole = ({ layout }, template) => ({
  ...layout,
  template,
  autosize: true,
  margin: { ...layout.margin, autoexpand: true },
});

/** A place for a figure: its head, its plot and its table. */
class Panel {
  /** @param {string} name @param {Record<string, any>} more of its element */
  constructor(name, more = {}) {
    this.name = name;
    this.head = h("div", { class: "hx-figure-head" });
    this.plot = h("div", { id: `figure-${name}` });
    this.table = h("div", { class: "hx-figure-table" });
    const view = h("div", { class: "hx-figure-view" }, this.plot);
    this.el = h("div", { class: "hx-figure", ...more }, this.head, view, this.table);
  }

  /** Title and table. @param {any} note null: the run has no such figure */
  say(note) {
    fill(this.head, "head", note);
    fill(this.table, "table", note?.columns.length ? note : null);
  }

  /** @param {any} Plotly @param {any} template @param {Figure|undefined} figure */
  draw(Plotly, template, figure) {
    if (!figure) return Plotly.purge(this.plot);
    return Plotly.react(this.plot, figure.data, whole(figure, template), CONFIG);
  }
}

export class FiguresAhead {
  /** @param {string} base above hx/ @param {string} script address of plotly's @param {string} failed said where a file is missing */
  constructor(base, script, failed) {
    this.base = base;
    this.script = script;
    this.failed = failed;
    this.wanted = "";
    this.panel = new Panel("depths", { class: "hx-figure hx-wide", id: "figure-depths-panel" });
    const own = h("div", { class: "hx-run-plots" }); // which the page draws itself
    this.els = [h("div", { id: "figures" }, own), h("div", { id: "figures-wide" }, this.panel.el)];
  }

  /** Shows those of a recording; the latest that was asked for. @param {{run: string, dark: boolean, wall: boolean}} asked */
  async draw({ run, dark, wall }) {
    if (!run.startsWith(RECORDED)) return;
    const wanted = (this.wanted = `${run} ${dark} ${wall}`);
    try {
      const name = encodeURIComponent(run.slice(RECORDED.length));
      const [template, packed] = await Promise.all([this._got("figures"), this._got(`figures/${name}`)]);
      if (this.wanted !== wanted) return;
      const { depths } = seen(packed, dark, wall);
      this.panel.say(depths ? { ...depths.note, run } : null);
      const Plotly = await plotly(this.script);
      if (this.wanted !== wanted) return;
      await this.panel.draw(Plotly, template, depths);
    } catch (/** @type {any} */ error) {
      this.panel.say({ title: this.failed, text: error.message ?? String(error), columns: [], rows: [], run });
    }
  }

  /** @param {string} path @returns {Promise<any>} */
  async _got(path) {
    return (await fetch(`${this.base}/hx/${path}`)).json();
  }
}
