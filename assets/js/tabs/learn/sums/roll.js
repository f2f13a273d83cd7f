/** The recursion of a round as a roll of calls: who asked whom for how many tokens, who verified what, and how many it holds
 *  then. Read from the model of a run. */

/**
 * One line. `ask`: `level` wants `count` tokens of the level below; `draft`: `level` offers `count`; `verify`: `level` keeps
 * `kept` of `count` and holds `held`; `up`: `level` hands up `count`. depth: 0 is the target's.
 * @typedef {{what: "ask"|"draft"|"verify"|"up", level: number, depth: number, t0: number, t1: number, count: number,
 *   kept: number, own: boolean, held: number}} RollLine
 */

/**
 * @param {import("../../../shared/run/trace.js").TraceModel} model @param {import("../../../shared/anatomy/round.js").Round} round
 * @returns {RollLine[]} in the order in which they happened
 */
export function rollOf(model, round) {
  const top = model.levels.length - 1;
  const held = model.levels.map(() => 0);
  /** @type {RollLine[]} */ const lines = [];
  const line = (/** @type {any} */ one) =>
    lines.push({ kept: 0, own: false, held: held[one.level], depth: top - one.level, ...one });
  const asked = model.levels.map(() => false); // whether a level has been asked and has not yet handed up
  /** Whoever is below is asked before it drafts or verifies. */
  const ask = (/** @type {number} */ level, /** @type {number} */ t) => {
    if (level >= top || asked[level]) return;
    ask(level + 1, t);
    asked[level] = true;
    line({ what: "ask", level: level + 1, t0: t, t1: t, count: model.levels[level].block ?? 0 });
  };
  for (const { segment, tiles } of round.calls) {
    const { level, t0, t1, kind } = segment;
    ask(level, t0);
    if (kind === "draft") {
      line({ what: "draft", level, t0, t1, count: tiles.length });
      asked[level] = false; // a draft is handed up as it is
      continue;
    }
    const judged = tiles.filter((x) => x.what === "check");
    const kept = judged.filter((x) => x.judgement?.outcome === "accepted").length;
    const own = tiles.some((x) => x.what === "own");
    if (level > 0) held[level - 1] = 0;
    if (level > 0) asked[level - 1] = false;
    held[level] += kept + (own ? 1 : 0);
    line({ what: "verify", level, t0, t1, count: judged.length, kept, own, held: held[level] });
  }
  return handedUp(model, lines);
}

/** Adds when a level between handed its block up: before the level above verified it.
 *  @param {import("../../../shared/run/trace.js").TraceModel} model @param {RollLine[]} lines @returns {RollLine[]} */
function handedUp(model, lines) {
  const top = model.levels.length - 1;
  return lines.flatMap((one) => {
    const between = one.what === "verify" && one.level > 1 && one.count > 0;
    if (!between) return [one];
    const level = one.level - 1;
    return [
      { what: "up", level, depth: top - level, t0: one.t0, t1: one.t0, count: one.count, kept: 0, own: false, held: 0 },
      one,
    ];
  });
}
