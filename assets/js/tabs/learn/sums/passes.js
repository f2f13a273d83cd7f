/** What the passes of a run cost and brought, for the pictures of lessons: read from the model, nothing here draws. */

/** @typedef {import("../../../shared/run/trace.js").TraceModel} TraceModel */

/**
 * The rounds that were over at a moment: tokens of each by the level that supplied them, cheapest first.
 * @param {TraceModel} model @param {number} until ns
 * @returns {{round: number, tokens: number, byLevel: number[]}[]}
 */
export function committedByRound(model, until) {
  const over = model.rounds.filter((round) => round.t1 <= until);
  const found = new Map(
    over.map(({ round, tokens }) => [round, { round, tokens, byLevel: model.levels.map(() => 0) }]),
  );
  for (const serial of model.committed) {
    const record = model.tokens.get(serial);
    const one = record && found.get(record.round);
    if (one) one.byLevel[record.level] += 1;
  }
  return [...found.values()];
}

/**
 * How long passes of the target took by how many rows they had: the median of each, ms.
 * @param {TraceModel} model
 * @returns {{rows: number, ms: number, count: number}[]} by rows
 */
export function timeByRows(model) {
  const top = model.levels.length - 1;
  /** @type {Map<number, number[]>} */ const found = new Map();
  for (const { level, kind, rows, t0, t1 } of model.segments)
    if (level === top && kind === "verify") found.set(rows, [...(found.get(rows) ?? []), (t1 - t0) / 1e6]);
  return [...found]
    .map(([rows, took]) => ({ rows, ms: took.sort((a, b) => a - b)[took.length >> 1], count: took.length }))
    .sort((a, b) => a.rows - b.rows);
}

/**
 * What a token of the text cost each level and in all, and what it costs plain decoding of the target, ms.
 * @param {TraceModel} model
 * @returns {{levels: number[], whole: number, plain: number|null}} whole: with the engine around the levels; plain: null where
 *   it was not measured beside the run
 */
export function costOfToken(model) {
  const tokens = model.committed.length || 1;
  const levels = model.levels.map(({ index }) => (model.figures.of(Infinity, index)?.busy_ms ?? 0) / tokens);
  const took = model.baseline?.token_ns ?? [];
  const speed = model.snapshots.at(-1)?.tokens_per_s;
  const whole = speed ? 1000 / speed : levels.reduce((a, b) => a + b, 0);
  return { levels, whole, plain: took.length ? took[took.length - 1] / 1e6 / took.length : null };
}
