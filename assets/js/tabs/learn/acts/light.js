/** Lights up the parts that a step speaks of: an outline around them, the rest in greys. Nothing lies over the page, so
 *  that all of it can be used meanwhile; what one points at has its colours back. */

import { onDrawn } from "../../../shared/player/within-reach.js";
import { part } from "./page-parts.js";

export class Light {
  /** @param {HTMLElement} stage */
  constructor(stage) {
    this.stage = stage;
    /** @type {string[]} */ this.names = [];
    /** @type {(Element|null)[]} */ this.lit = [];
    /** @type {Element[]} */ this.dim = [];
    onDrawn(() => this._again());
  }

  /** @param {string[]} names @returns {HTMLElement|null} the first of them that is on the page */
  show(names) {
    this.names = names;
    this._put();
    return /** @type {HTMLElement|null} */ (this.lit.find(Boolean) ?? null);
  }

  clear() {
    this.show([]);
  }

  /** The page draws floors and tokens again; the light goes with them. */
  _again() {
    if (!this.names.length) return;
    const now = this.names.map((name) => part(this.stage, name));
    if (now.some((one, i) => one !== this.lit[i])) this._put();
  }

  _put() {
    for (const one of this.lit) one?.classList.remove("hx-lit");
    for (const one of this.dim) one.classList.remove("hx-dim");
    this.lit = this.names.map((name) => part(this.stage, name));
    const lit = this.lit.filter((one) => one !== null);
    for (const one of lit) one.classList.add("hx-lit");
    this.dim = lit.length ? beside(this.stage, lit) : [];
    for (const one of this.dim) one.classList.add("hx-dim");
  }
}

const PANELS = ".hx-title, .hx-prompt-row, .hx-text-panel, .hx-tower, .hx-clock";

/** The panels that hold none of the lit parts. @param {HTMLElement} stage @param {Element[]} lit */
function beside(stage, lit) {
  const panels = [...stage.querySelectorAll(PANELS)];
  return panels.filter((panel) => !lit.some((one) => panel.contains(one)));
}
