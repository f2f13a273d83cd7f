/** What a verifier was told of each drafted token beside its probability, in numbers from 0 to 1: a bar each. */

import { h } from "../kit/dom.js";
import { figure } from "../../../text/numbers.js";

/** @import {Call, Round} from "./round.js" @import {TraceModel} from "../run/trace.js" */

/** The verification that a reader looks at and that has this note: the event's own, else the last one of the round.
 *  @param {Round} round @param {Call|null} call @param {number} at @param {string} note */
export function notedCall(round, call, at, note) {
  const has = (/** @type {Call|null} */ x) => Boolean(x?.segment.notes && note in x.segment.notes);
  return has(call) ? call : (round.calls.findLast((x) => has(x) && x.segment.t1 <= at) ?? null);
}

/** A table: a drafted token a row, a bar for each of its numbers.
 *  @param {TraceModel} model @param {Call} call @param {number[][]} columns by column, a number for each token in the order
 *    in which they were drafted @param {string[]} heads @param {string} words */
export function readings(model, call, columns, heads, words) {
  const checked = call.tiles.filter((tile) => tile.what === "check").map((tile) => tile.record);
  const tokens = checked.sort((a, b) => a.serial - b.serial).slice(0, columns[0].length);
  const rows = tokens.map((record, i) =>
    h("tr", [
      h("th", { scope: "row" }, h("code", model.pieceText(record.id))),
      ...columns.map((column) => h("td", { style: { "--p": String(column[i]) }, text: figure(column[i]) })),
    ]),
  );
  const top = h("tr", [h("td"), ...heads.map((text) => h("th", { scope: "col", text }))]);
  return h("div.hx-readings", { role: "group", tabindex: "0", "aria-label": words }, [
    h("table.hx-an-table", [h("thead", top), h("tbody", rows)]),
    h("p.hx-an-muted", words),
  ]);
}
