/** Moments of a run by the words that lessons use: "start", "round 3", "round 3 drafted", "round 3 end",
 *   "reject 2", "token 10", "40%". */

/**
 * @param {import("../../trace.js").TraceModel} model @param {string} words
 * @returns {number|null} ns; null where the run has no such moment
 */
export function momentOf(model, words) {
  const start = model.rounds[0]?.t0 ?? 0;
  if (words === "start") return start;
  if (words === "end") return model.end;
  if (words.endsWith("%")) return start + ((model.end - start) * parseFloat(words)) / 100;
  const [what, n, when] = words.split(" ");
  const at = Number(n) - 1;
  if (what === "token") return model.commitTimes[at] ?? null;
  if (what === "reject") return model.ghosts[at]?.tGone ?? null;
  const round = model.rounds[at];
  if (!round || !when) return round?.t0 ?? null;
  return when === "end" ? round.t1 : draftedBy(model, round);
}

/** When a round's first draft was there, before anybody judged it. */
function draftedBy(model, { round, t0 }) {
  return model.segments.find((one) => one.round === round && one.kind === "draft")?.t1 ?? t0;
}
