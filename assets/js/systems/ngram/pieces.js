/** What the parts of the databases' view are made of: a database's letter, words of the text, lists, and nothing to
 *  see. */

import { written } from "../../shared/run/copies.js";
import { h } from "../../shared/kit/dom.js";
import { originOf } from "../../shared/levels/kinds.js";
import { DB } from "./words.js";

/** @import {TraceModel} from "../../shared/run/trace.js" @import {Ledger} from "./ledger.js" */

export const chip = (/** @type {Ledger} */ ledger, /** @type {string} */ letter) =>
  h("span.hx-db-chip", { text: letter, style: { "--hue": hueOf(ledger, letter) } });

export const hueOf = (/** @type {Ledger} */ ledger, /** @type {string} */ letter) =>
  originOf(ledger.model.levels[ledger.level].kind, letter)?.hue ?? "var(--muted)";

export const words = (/** @type {Ledger} */ ledger, /** @type {number[]} */ ids) =>
  written(
    ledger.model,
    ids.map((id) => ({ id })),
  );

/** A piece of the text. */
export const quote = (/** @type {string} */ kind, /** @type {string} */ text) =>
  h("span.hx-db-words", { class: kind, dir: "auto", text });

/** What is said where there is nothing to see. @param {TraceModel} model */
export const nothing = (model) =>
  h("div.hx-db-none", [h("p", model.header?.simulated ? DB.simulated : DB.none), h("p.hx-db-note", DB.cure)]);

// Lists whose rows stay as long as what they say: per frame only what changed is made again.

/** @typedef {{key: string, sign: string, make: () => HTMLElement}} Row sign: what it says; the same sign, the same element
 *  @type {WeakMap<Element, Map<string, {sign: string, el: HTMLElement}>>} */
const drawn = new WeakMap();

/** Shows these rows in this order. @param {Element} list @param {Row[]} rows @returns {number} how many were made */
export function showRows(list, rows) {
  const old = drawn.get(list) ?? new Map();
  /** @type {Map<string, {sign: string, el: HTMLElement}>} */ const now = new Map();
  let made = 0;
  for (const { key, sign, make } of rows) {
    const before = old.get(key);
    const same = before?.sign === sign;
    if (!same) made += 1;
    const el = same ? before.el : make();
    if (before && !same && before.el.contains(document.activeElement)) {
      before.el.replaceWith(el); // the focus stays on the row
      /** @type {HTMLElement|null} */ (el.querySelector("button"))?.focus({ preventScroll: true });
    }
    now.set(key, { sign, el });
  }
  for (const [key, { el }] of old) if (now.get(key)?.el !== el) el.remove();
  let next = list.firstElementChild;
  for (const { el } of now.values()) {
    if (el === next) next = next.nextElementSibling;
    else list.insertBefore(el, next);
  }
  drawn.set(list, now);
  return made;
}
