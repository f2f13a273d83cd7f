/** Moments of a run by the words that lessons use: "start", "round 3", "round 3 drafted", "round 3 end", "reject 2" of all,
 *  "reject Q 2" by a level, "reject Q 2 end" of its round, "token 10", "40%". */

import { rejected } from "../figures/moment-figures.js";

/**
 * @param {import("../../../shared/run/trace.js").TraceModel} model @param {string} words
 * @returns {number|null} ns; null where the run has no such moment
 */
export function momentOf(model, words) {
  const start = model.rounds[0]?.t0 ?? 0;
  if (words === "start") return start;
  if (words === "end") return model.end;
  if (words.endsWith("%")) return start + ((model.end - start) * parseFloat(words)) / 100;
  const [what, ...rest] = words.split(" ");
  if (what === "token") return model.commitTimes[Number(rest[0]) - 1] ?? null;
  if (what === "reject") return fallen(model, rest);
  const [n, when] = rest;
  const round = model.rounds[Number(n) - 1];
  if (!round || !when) return round?.t0 ?? null;
  return when === "end" ? round.t1 : draftedBy(model, round);
}

/** When a token was rejected, or the end of the round in which it was. @param {import("../../../shared/run/trace.js").TraceModel} model @param {string[]} words */
function fallen(model, words) {
  const over = words.at(-1) === "end";
  const lost = rejected(model, ...(over ? words.slice(0, -1) : words));
  const t = lost?.tGone ?? null;
  if (t === null || !over) return t;
  return model.rounds.find((round) => round.t1 >= t)?.t1 ?? null;
}

/** When a round's first draft was there, before anybody judged it. A lookup that finds nothing leaves no event, and the moment
 *  would be the previous round's: then it is the round's first event. */
function draftedBy(
  /** @type {import("../../../shared/run/trace.js").TraceModel} */ model,
  /** @type {{round: number, t0: number}} */ { round, t0 },
) {
  const draft = model.segments.find((one) => one.round === round && one.kind === "draft");
  return (draft?.tokensOut ? draft.t1 : model.marks.find((one) => one.round === round)?.t) ?? t0;
}
