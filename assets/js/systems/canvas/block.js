/** A block of blanks at a moment: its cells from left to right, each with its word and the pass that filled it. */

import { h } from "../../shared/kit/dom.js";
import { loadStyles } from "../../shared/kit/styles.js";
import { BLOCK } from "./words.js";

/** @import {TraceModel} from "../../shared/run/trace.js" */

/** @typedef {{word: string, serial: number|null, pass: number}} Filled serial: null for a word of the prompt; pass: the round */

export const CELLS = 16; // hsd_core/systems/canvas/language.py
const SMALL = "\u2080\u2081\u2082\u2083\u2084\u2085\u2086\u2087\u2088\u2089";
const KINDS = ["infill", "bigram"]; // targets over blanks

/** A token's word and cell, from 0; null for one that fills none. @param {string} text */
export function fillingOf(text) {
  const [, word, digits] = text.match(/^(\S+?)([\u2080-\u2089]+)/u) ?? [];
  return word ? { word, cell: Number([...digits].map((x) => SMALL.indexOf(x)).join("")) - 1 } : null;
}

/** @param {TraceModel} model */
export const ofBlanks = (model) => KINDS.includes(model.levels.at(-1)?.kind ?? "");

/** The block that is filled after n committed tokens, and how many blocks are full before it; a full one stays until a
 *  token of the next is there. @param {TraceModel} model @param {number} n */
export function blockAfter(model, n) {
  const given = (model.header?.prompt_ids ?? []).map((id) => ({ id, serial: null, pass: -1 }));
  const own = model.committed.slice(0, n).map((serial) => {
    const record = model.tokens.get(serial);
    return { id: record?.id ?? -1, serial, pass: record?.round ?? 0 };
  });
  const fillings = [...given, ...own].flatMap(({ id, serial, pass }) => {
    const found = fillingOf(model.pieceText(id));
    return found ? [{ ...found, serial, pass }] : [];
  });
  const full = Math.max(0, Math.ceil(fillings.length / CELLS) - 1);
  /** @type {(Filled|null)[]} */ const cells = new Array(CELLS).fill(null);
  for (const { cell, ...one } of fillings.slice(full * CELLS)) cells[cell] = one;
  return { full, cells };
}

/** @param {TraceModel} model @param {number} n committed tokens @param {number} last the pass that is lit */
export function blockGrid(model, n, last) {
  void loadStyles("../js/systems/canvas/canvas");
  const { full, cells } = blockAfter(model, n);
  const shown = cells.map((cell, i) => {
    const level = cell?.serial === null ? null : model.levels[model.tokens.get(cell?.serial ?? -1)?.level ?? -1];
    const state = !cell ? "blank" : cell.serial === null ? "given" : cell.pass === last ? "now" : "filled";
    return h("li.hx-blank", { "data-state": state, style: level ? { "--hue": level.hue } : {} }, [
      h("span.hx-blank-word", { text: cell?.word ?? "" }),
      h("span.hx-blank-pass", {
        "aria-hidden": "true",
        text: cell?.serial == null ? "" : String(cell.pass + 1),
      }),
      h("span.hx-sr", BLOCK.cell(i + 1, cell && cell.pass + 1)),
    ]);
  });
  return h("div.hx-blanks", [
    h("ol.hx-blank-row", { "aria-label": BLOCK.label(full + 1) }, shown),
    h("p.hx-an-muted", BLOCK.legend),
  ]);
}

/** Null for a run over no blanks. @param {TraceModel} model @param {{round: number, t1: number}} round @param {{at: number}} seen */
export function blockOfRound(model, round, { at }) {
  return ofBlanks(model) ? blockGrid(model, model.committedAt(at), round.round) : null;
}
