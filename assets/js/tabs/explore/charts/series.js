/** What the live charts draw: one entry for each round that was over at a moment of the run. Pure functions of (model, cursor);
 *  every figure is the server's own (snapshots and gauges) or a time of the trace. */

import { plainSpeed } from "../../../shared/run/figures.js";
import { upTo } from "../../../shared/kit/order.js";

/**
 * `accepted` and `judged`: tokens of its drafter in this round; `mean`: the share accepted in the run up to its end.
 * @typedef {{level: number, accepted: number, judged: number, mean: number|null}} Accepted
 * `byLevel`: ns. `speed`: committed tokens / decode time so far. `tokens`: committed in this round. `mean`: tokens a pass so far.
 * @typedef {{round: number, t1: number, byLevel: number[], ns: number, tokens: number, speed: number|null, mean: number|null,
 *   accepted: Accepted[]}} Entry
 */

/**
 * The rounds that had committed something and were over at the cursor, at most the last `most` of them.
 * @param {import("../../../shared/run/trace.js").TraceModel} model @param {number} cursor ns @param {number} most
 * @returns {Entry[]}
 */
export function entriesOf(model, cursor, most) {
  const { rounds, levels, figures } = model;
  const over = [];
  for (let i = upTo(rounds, cursor, (r) => r.t0) - 1; i >= 0 && over.length < most; i--)
    if (rounds[i].tokens > 0 && rounds[i].t1 <= cursor) over.push(rounds[i]);
  over.reverse();
  const verifiers = levels.filter((level) => level.index > 0).map((level) => level.index);
  /** @type {Map<number, any>} */ const before = new Map();
  const first = over[0];
  if (first) for (const level of verifiers) before.set(level, figures.of(first.t0, level));
  return over.map((r) => {
    const snapshot = model.snapshotAt(r.t1);
    const byLevel = levels.map((_, i) => r.byLevel[i] || 0);
    const accepted = verifiers.map((level) => {
      const [was, is] = [before.get(level), figures.of(r.t1, level)];
      before.set(level, is);
      return {
        level,
        accepted: (is?.accepted ?? 0) - (was?.accepted ?? 0),
        judged: (is?.judged ?? 0) - (was?.judged ?? 0),
        mean: is?.acceptance ?? null,
      };
    });
    return {
      round: r.round,
      t1: r.t1,
      byLevel,
      ns: byLevel.reduce((sum, ns) => sum + ns, 0),
      tokens: r.tokens,
      speed: snapshot?.tokens_per_s ?? null,
      mean: snapshot?.tokens_per_target_forward ?? null,
      accepted,
    };
  });
}

/** Tokens/s of plain decoding of the same prompt, or null. @param {import("../../../shared/run/trace.js").TraceModel} model */
export const plainOf = (model) => plainSpeed(model.baseline);
