/** Whether a row's text is plain decoding's, and of which target: never "equal" beside another model's text. */

import { same, targetOf } from "./groups.js";
import { BARS } from "../../../text/en/results.js";

/** @param {import("./columns.js").Row} row @param {import("./columns.js").Column} column */
export function sameText(row, column) {
  const target = targetOf(row.plain, column);
  if (row.stack === row.plain) return BARS.itself(target);
  if (row.equal === null) return BARS.drawn;
  return row.equal === 1 ? BARS.same(target) : BARS.some(Math.round(row.equal * row.prompts), row.prompts, target);
}

/** Of another program, beside our plain decoding of the target as it is. */
export const peerText = (
  /** @type {import("./columns.js").Peer} */ peer,
  /** @type {import("./columns.js").Column} */ column,
) => (same(peer) ? BARS.same(targetOf("target", column)) : BARS.differs(Math.round(100 * (peer.same_tokens ?? 0))));
