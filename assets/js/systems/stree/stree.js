/** Levels with a running state: which of a call's tokens each of them reads, beside the sum of the text before; what
 *  they remember, on the Results tab. */

import { bring } from "../index.js";
import { h } from "../../shared/kit/dom.js";
import { STATE } from "./words.js";

/** @import {Call, Round} from "../../shared/anatomy/round.js" @import {TokenRecord} from "../../shared/run/records.js"
 *  @import {TraceModel} from "../../shared/run/trace.js" */

/** The tokens of a call and, for each, which of them are on its path. @param {Call} call
 *  @returns {{tokens: TokenRecord[], reads: boolean[][]}} */
export function ancestorsOf(call) {
  const tokens = call.tiles.filter((x) => x.what !== "own").map((x) => x.record);
  const above = (/** @type {TokenRecord} */ x) =>
    x.fork ? tokens.findIndex((y) => y.serial === x.fork?.parent) : tokens.findIndex((y) => y.at === x.at - 1);
  const reads = tokens.map((token, row) => {
    const path = new Set([row]);
    for (let at = above(token); at >= 0 && !path.has(at); at = above(tokens[at])) path.add(at);
    return tokens.map((_, column) => path.has(column));
  });
  return { tokens, reads };
}

/** @param {TraceModel} model @param {Round} round @param {{at: number, call: Call|null}} seen */
function maskOf(model, round, { at, call }) {
  const states = (/** @type {Call} */ x) => Boolean(model.levels[x.segment.level].params?.states);
  const mine = call && states(call) ? call : round.calls.findLast((x) => states(x) && x.segment.t1 <= at);
  const { tokens, reads } = mine ? ancestorsOf(mine) : { tokens: [], reads: [] };
  if (!mine || tokens.length < 2) return null;
  const { hue, name } = model.levels[mine.segment.level];
  const columns = `max-content repeat(${tokens.length + 1}, 14px)`;
  const grid = h("div.hx-mask-grid", {
    "aria-hidden": "true",
    style: { "grid-template-columns": columns, "--hue": hue },
  });
  tokens.forEach((token, row) => {
    grid.append(h("span.hx-mask-name", model.pieceText(token.id)), h("i.hx-mask-sum", { "data-tip": STATE.sum }));
    for (const there of reads[row]) grid.append(h("i", { class: there ? "hx-mask-read" : "hx-mask-not" }));
  });
  const read = reads.flat().filter(Boolean).length;
  const words = STATE.says({ name, tokens: tokens.length, read, all: tokens.length ** 2 });
  return h("div.hx-mask", { role: "group", tabindex: "0", "aria-label": words }, [grid, h("p.hx-an-muted", words)]);
}

bring({
  rounds: [{ name: "mask", make: maskOf }],
  later: [{ tab: "results", load: () => import("./memory.js") }],
});
