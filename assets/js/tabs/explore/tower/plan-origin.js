/** The line below the tower that says what Auto plans with: the profile of the run shown, or of the one to come. */

import { h, say } from "../../../shared/kit/dom.js";
import { originText } from "./floor/floor-notes.js";
import { heatOf } from "../../../shared/levels/greedy.js";
import { PLAN } from "../../../../text/en/tower.js";

export class Origin {
  constructor() {
    this.el = h("p.hx-tower-note.hx-tower-origin", { hidden: true });
    this.asked = ""; // the run that was last asked about
    this.told = ""; // the answer
  }

  /** @param {?import("../../../shared/run/events.js").Header} header of the run shown, if it is of this stack
   *  @param {Record<string, any>} settings of the next run */
  show(header, settings) {
    if (header) return this._say(header.replan ? (header.replan.by_load ?? originText(header)) : "");
    if (!settings.replan) return this._say("");
    const { preset, device } = settings;
    const query = new URLSearchParams({ preset, device: device ?? "", temperature: `${heatOf(settings)}` }).toString();
    if (query !== this.asked) this._ask(query);
    this._say(this.told);
  }

  async _ask(/** @type {string} */ query) {
    this.asked = query;
    this.told = "";
    const reply = await fetch(new URL(`../../../../../planner/origin?${query}`, import.meta.url)).catch(() => null);
    const found = reply?.ok ? await reply.json() : null;
    if (query !== this.asked || !found) return;
    this.told = found.profile ? originText(found) : PLAN.noProfileOf(found.option);
    this._say(this.told);
  }

  _say(/** @type {string} */ text) {
    say(this.el, text && PLAN.auto(text));
    this.el.hidden = !text;
  }
}
