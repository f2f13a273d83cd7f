/** What a page without a server knows ahead: the figures of recordings below Explore (app/site/figures_ahead.py)
 *  and the prices of stacks. */

import { h } from "../shared/kit/dom.js";
import { seenAs } from "../tabs/planner/ahead/plans-ahead.js";
import { fill } from "../shared/plots/notes.js";
import { plotly } from "../shared/plots/plots.js";
import { RECORDED } from "../shared/visit/journey.js";

/** @import {Price} from "../tabs/explore/tower/forecast/forecast.js" */

/** @typedef {{note: any, data: any[], layout: Record<string, any>}} Figure */

const CONFIG = { displaylogo: false, responsive: true };

/** What was drawn for one look, by the figures' names. @param {{parts: any[], value: any}} packed
 *  @param {boolean} dark @param {boolean} wall @returns {Record<string, Figure>} */
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
    this.head = h("div.hx-figure-head");
    this.plot = h("div", { id: `figure-${name}` });
    this.table = h("div.hx-figure-table");
    const view = h("div.hx-figure-view", this.plot);
    this.el = h("div.hx-figure", { ...more }, [this.head, view, this.table]);
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
    const own = h("div.hx-run-plots"); // which the page draws itself
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

// What stacks would cost by the theory, looked up where it was worked out ahead (app/site/prices_ahead.py).

/** @typedef {{preset: string, temperature?: number, about: any, prices: Record<string, Price>,
 *   by_length?: Record<string, Price>, others?: Price}} Known by_length: stacks that are compared at the length of a text */

/** The answer to what the tower asks of a server. @param {{known: Known[], others: Price}} ahead
 *  @param {{preset: string, device: string, temperature: number, stacks: string[], by_length?: boolean}} question */
export function priced({ known, others }, { preset, device, temperature, stacks, by_length: all }) {
  const here = (/** @type {Known} */ one) => (one.temperature ?? temperature) === temperature;
  const found = ["", "cpu"].includes(device) ? known.find((one) => one.preset === preset && here(one)) : undefined;
  return {
    about: found?.about ?? null,
    prices: stacks.map((stack) => (all ? found?.by_length : found?.prices)?.[stack] ?? found?.others ?? others),
  };
}
