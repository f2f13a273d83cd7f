/** The parts of the page by the names that lessons call them, and the light on those that a step speaks of. A part
 *  that is not on the page lights nothing. */

import { onDrawn } from "../../../shared/player/within-reach.js";

/** @type {Record<string, string>} */
export const PARTS = {
  headline: ".hx-headline",
  prompt: ".hx-prompt-row",
  generate: ".hx-go",
  text: ".hx-text-panel",
  tokens: ".hx-text-body",
  legend: ".hx-colours",
  caption: ".hx-caption",
  anatomy: ".hx-anatomy",
  tower: ".hx-tower",
  stacks: ".hx-stack-pick",
  trunk: ".hx-trunks",
  note: ".hx-tower-note",
  clock: ".hx-clock",
  lanes: ".hx-lane-plot",
  playback: ".hx-transport",
  tally: ".hx-tally",
  "per-pass": ".hx-figure-forward",
  kept: ".hx-figure-kept",
  layers: ".hx-figure-layers",
  equal: ".hx-figure-equal",
  price: ".hx-figure-price",
  card: ".hx-card",
};

/** Parts of a floor, after its letter: `level-N`, `block-N`, `acceptance-T`, `ms-T`, `kv-T`. */
/** @type {Record<string, string>} */
const ON_FLOOR = {
  level: ".hx-floor-card",
  block: ".hx-stepper",
  acceptance: ".hx-keeps",
  ms: ".hx-ms",
  kv: ".hx-kv",
};
const FLOOR = /^(\w+)-([A-Z]\d?)$/;

/** The panel of the first screen that a part lies in, which may be closed. */
const LIES_IN = /** @type {Record<string, string>} */ ({
  ...Object.fromEntries(
    ["lanes", "clock", "tally", "per-pass", "kept", "layers", "equal", "price"].map((name) => [name, "time"]),
  ),
  ...{ stacks: "stack", block: "stack" },
});

/** The panels that parts lie in. @param {string[]} names */
export const panelsOf = (names) =>
  [...new Set(names.map((name) => LIES_IN[name] ?? LIES_IN[FLOOR.exec(name)?.[1] ?? ""]))].filter(Boolean);

/** Whether a lesson may use a name. @param {string} name */
export const known = (name) => Object.hasOwn(PARTS, name) || Object.hasOwn(ON_FLOOR, FLOOR.exec(name)?.[1] ?? "");

/** The element of a part; null where it is not on the page, or not seen.
 *  @param {ParentNode} stage @param {string} name @returns {HTMLElement|null} */
export function part(stage, name) {
  const [, what, letter] = FLOOR.exec(name) ?? [];
  const floors = letter ? [...stage.querySelectorAll(".hx-floor")] : [];
  const floor = floors.find((one) => one.querySelector(".hx-tag")?.textContent === letter);
  const found = letter ? floor?.querySelector(ON_FLOOR[what] ?? "none") : stage.querySelector(PARTS[name] ?? "none");
  return found instanceof HTMLElement && found.offsetParent !== null ? found : positioned(found);
}

/** What is fixed in the window has no offset parent and is seen all the same. @param {Element|null|undefined} found */
const positioned = (found) => (found instanceof HTMLElement && found.getClientRects().length ? found : null);

// Lights up the parts that a step speaks of: an outline around them, the rest in greys. Nothing lies over the page,
// so that all of it can be used meanwhile; what one points at has its colours back.

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
