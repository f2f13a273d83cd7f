/** What the text shows at a moment: cells of tokens, and between them the rejected drafts of each place. */

import { splitCells } from "../run/cells.js";
import { upTo } from "../kit/order.js";

/** @typedef {import("../run/trace.js").TraceModel} TraceModel */
/** @typedef {import("../run/records.js").TokenRecord} TokenRecord */
/** @typedef {{key: string, at: number, cell?: import("../run/cells.js").Cell, heads?: TokenRecord[]}} Item */

/**
 * Items from a committed position on, by position; `heads` are rejected records of one place, oldest first.
 * @param {TraceModel} model
 * @param {number} cursor ns
 * @param {number} from where a cell begins
 * @param {number} committed tokens up to the cursor
 * @param {boolean} haunted whether rejected drafts are shown
 * @returns {Item[]}
 */
export function wanted(model, cursor, from, committed, haunted) {
  const rest = model.committed.slice(from, committed).map((serial) => model.tokens.get(serial));
  const records = [...rest, ...model.aliveAt(cursor)].filter((record) => record !== undefined);
  const ghosts = haunted ? ghostsFrom(model, cursor, from) : new Map();
  /** @type {Item[]} */ const items = [];
  let at = from;
  for (const cell of splitCells(records, (id) => model.piece(id))) {
    const next = at + cell.serials.length;
    for (; at < next; at++)
      if (ghosts.has(at)) items.push({ key: `g${at}`, at, heads: ghosts.get(at) }), ghosts.delete(at);
    items.push({ key: `t${cell.serials[0]}`, at: next - cell.serials.length, cell });
  }
  for (const [place, heads] of [...ghosts].sort((a, b) => a[0] - b[0]))
    items.push({ key: `g${place}`, at: place, heads });
  return items;
}

/** @param {TraceModel} model @param {number} cursor @param {number} from */
function ghostsFrom(model, cursor, from) {
  /** @type {Map<number, TokenRecord[]>} */ const found = new Map();
  for (const [at, record] of model.ghostsFrom(cursor, from)) {
    const heads = found.get(at);
    if (heads) heads.push(record);
    else found.set(at, [record]);
  }
  return found;
}

/**
 * Where what may differ begins: the last cell boundary at or before n committed tokens, and one cell back.
 * @param {TraceModel} model
 * @param {number} n
 */
export function cellStart({ cellStarts, committed }, n) {
  const cell = n < committed.length ? upTo(cellStarts, n, (at) => at) - 1 : cellStarts.length;
  // A character may still be joined to the cell before the boundary.
  return cellStarts[Math.max(0, cell - 1)] ?? 0;
}
