/** The arithmetic of the pictures of lessons, tested against hsd_core: what blocks yield, what a lock step gives, the best way
 *  through levels, tosses of a rule, and what a recorded run shows at a moment. Nothing here draws. */

/** @import {Round} from "../../../shared/anatomy/round.js" @import {TraceModel} from "../../../shared/run/trace.js" */

// What a block of guesses yields and gains, where each is kept with the same probability (Leviathan et al. 2023, section 3).

/** Tokens that a pass commits on average where each of n guesses is kept with probability a. @param {number} a @param {number} n */
export const yielded = (a, n) => (a === 1 ? n + 1 : (1 - a ** (n + 1)) / (1 - a));

/** Speed over plain decoding, where a guess costs c of a pass and a pass costs the same whatever its rows. @param {number} a @param {number} n @param {number} c */
export const gained = (a, n, c) => yielded(a, n) / (1 + n * c);

/** The block length that gains most, 0 where none pays. @param {number} a @param {number} c @param {number} most */
export function bestLength(a, c, most) {
  const lengths = Array.from({ length: most + 1 }, (_, n) => n);
  return lengths.reduce((best, n) => (gained(a, n, c) > gained(a, best, c) + 1e-12 ? n : best), 0);
}

// What PEARL's lock step gives, beside one level after another. Times are in passes of the target.

/** Tokens that a step commits in the long run, where each of g tokens is kept with probability a. @param {number} a @param {number} g */
export const perStep = (a, g) => (a >= 1 ? g : (1 - a ** g) / ((1 - a) * (1 + a - a ** g)));

/** Time of a token in lock step, where a drafted one costs d. @param {number} a @param {number} g @param {number} d */
export const inStep = (a, g, d) => Math.max(g * d, 1) / perStep(a, g);

/** Time of a token where one level works after the other. @param {number} a @param {number} g @param {number} d */
export const inTurn = (a, g, d) => (g * d + 1) / yielded(a, g);

/** At most how many times as fast two lanes are that work l and c. @param {number} l @param {number} c */
export const atMost = (l, c) => (l + c) / Math.max(l, c);

/** The shortest time of a token over all block lengths. @param {(g: number) => number} time @param {number} most @returns {[number, number]} time and length */
export function shortestOf(time, most) {
  const all = Array.from({ length: most }, (_, i) => /** @type {[number, number]} */ ([time(i + 1), i + 1]));
  return all.reduce((best, one) => (one[0] < best[0] - 1e-12 ? one : best));
}

// The generalised shortest path over levels and block lengths, with the arithmetic of the planner
// (hsd_core/theory/search/paths.py) for levels whose passes cost the same whatever their rows.

/** A step of a path: a level with the length of its blocks; the last one is the target.
 *  @typedef {{level: number, block: number}} Hop
 *  @typedef {{ms: number, path: Hop[]}} Way */

/** Verifications until t tokens are held, where each has blocks of u tokens and adds one of its own: E[R(t; a, u)].
 *  @param {number} t @param {number} a @param {number} u */
export function roundsUntil(t, a, u) {
  const visits = [1, ...Array(t - 1).fill(0)]; // P(a verification begins with n tokens held)
  for (let held = 0; held < t; held++)
    for (let x = 1; x <= u + 1 && held + x < t; x++)
      visits[held + x] += visits[held] * (x <= u ? a ** (x - 1) * (1 - a) : a ** u);
  return visits.reduce((sum, v) => sum + v, 0);
}

/** @param {number[]} costs ms of a pass, cheapest level first, the target last
 *  @param {number[][]} kept kept[i][j]: the share of level i's tokens that level j accepts
 *  @param {number} most the longest block
 *  @returns {{best: Way, nodes: Way[][], ends: Way[][]}} best: ms a token; nodes[i][t - 1]: ms to get t tokens from level i;
 *    ends[i][t - 1]: ms a token where the target verifies those */
export function shortest(costs, kept, most) {
  const target = costs.length - 1;
  /** @type {Way[][]} */ const nodes = [];
  for (let i = 0; i < target; i++) {
    nodes.push(
      Array.from({ length: most }, (_, at) => {
        const t = at + 1;
        /** @type {Way} */ let best = { ms: t * costs[i], path: [{ level: i, block: t }] };
        for (let j = 0; j < i; j++)
          for (let u = 1; u <= most; u++) {
            const below = nodes[j][u - 1];
            const ms = roundsUntil(t, kept[j][i], u) * (costs[i] + below.ms);
            if (ms < best.ms) best = { ms, path: [...below.path, { level: i, block: t }] };
          }
        return best;
      }),
    );
  }
  const end = { level: target, block: 1 };
  const ends = nodes.map((ways, i) =>
    ways.map(({ ms, path }, at) => ({
      ms: (costs[target] + ms) / yielded(kept[i][target], at + 1),
      path: [...path, end],
    })),
  );
  /** @type {Way} */ const plain = { ms: costs[target], path: [end] };
  return { best: ends.flat().reduce((best, way) => (way.ms < best.ms ? way : best), plain), nodes, ends };
}

// The rule `tokenwise` tossed many times over one place of the text: a draft from q is kept with probability min(1,
// p/q), else a replacement is drawn from the residual (hsd_core/core/rules). Distributions are lists of chances that
// sum to 1.

/** @typedef {"residual"|"target"} From whence a replacement is drawn: max(p - q, 0), or, wrongly, p */

/** The chance that a draft is kept. @param {number[]} p @param {number[]} q */
export const keptShare = (p, q) => p.reduce((sum, x, i) => sum + Math.min(x, q[i]), 0);

/** max(p - q, 0), scaled to sum to 1; p itself where nothing is left of it. @param {number[]} p @param {number[]} q */
export function residual(p, q) {
  const left = p.map((x, i) => Math.max(x - q[i], 0));
  const sum = left.reduce((a, b) => a + b, 0);
  return sum > 0 ? left.map((x) => x / sum) : p;
}

/** The exact distribution of what comes out. @param {number[]} p @param {number[]} q @param {From} from */
export function outcome(p, q, from) {
  const [lost, instead] = [1 - keptShare(p, q), from === "residual" ? residual(p, q) : p];
  return p.map((x, i) => Math.min(x, q[i]) + lost * instead[i]);
}

/** One toss: which token comes out, and whether it was the draft.
 *  @param {number[]} p @param {number[]} q @param {From} from @param {() => number} random in [0, 1) */
export function toss(p, q, from, random) {
  const draft = drawn(q, random());
  if (random() * q[draft] < p[draft]) return { token: draft, kept: true };
  return { token: drawn(from === "residual" ? residual(p, q) : p, random()), kept: false };
}

/** @param {number[]} chances @param {number} u */
function drawn(chances, u) {
  let below = 0;
  for (let i = 0; i < chances.length; i++) if (u < (below += chances[i])) return i;
  return chances.findLastIndex((x) => x > 0); // what rounding left
}

/** A draft between the target's own distribution (0) and another one (1). @param {number[]} p @param {number[]} q @param {number} share */
export const between = (p, q, share) => p.map((x, i) => (1 - share) * x + share * q[i]);

/** Random numbers that begin alike with every seed (mulberry32). @param {number} seed */
export function seeded(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

// What the passes of a run cost and brought.

/** The rounds that were over at a moment: tokens of each by the level that supplied them, cheapest first.
 *  @param {TraceModel} model @param {number} until ns
 *  @returns {{round: number, tokens: number, byLevel: number[]}[]} */
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

/** How long passes of the target took by how many rows they had: the median of each, ms. @param {TraceModel} model
 *  @returns {{rows: number, ms: number, count: number}[]} by rows */
export function timeByRows(model) {
  const top = model.levels.length - 1;
  /** @type {Map<number, number[]>} */ const found = new Map();
  for (const { level, kind, rows, t0, t1 } of model.segments)
    if (level === top && kind === "verify") found.set(rows, [...(found.get(rows) ?? []), (t1 - t0) / 1e6]);
  return [...found]
    .map(([rows, took]) => ({ rows, ms: took.sort((a, b) => a - b)[took.length >> 1], count: took.length }))
    .sort((a, b) => a.rows - b.rows);
}

/** What a token of the text cost each level and in all, and what it costs plain decoding of the target, ms.
 *  @param {TraceModel} model
 *  @returns {{levels: number[], whole: number, plain: number|null}} whole: with the engine around the levels; plain: null where
 *    it was not measured beside the run */
export function costOfToken(model) {
  const tokens = model.committed.length || 1;
  const levels = model.levels.map(({ index }) => (model.figures.of(Infinity, index)?.busy_ms ?? 0) / tokens);
  const took = model.baseline?.token_ns ?? [];
  const speed = model.snapshots.at(-1)?.tokens_per_s;
  const whole = speed ? 1000 / speed : levels.reduce((a, b) => a + b, 0);
  return { levels, whole, plain: took.length ? took[took.length - 1] / 1e6 / took.length : null };
}

// A round as far as it is known at a moment: what comes later takes no room, so that a picture of it tells nothing
// that a question asks.

/** @param {Round} round @param {number} at ns, a settled moment @returns {Round} */
export function soFar(round, at) {
  const calls = round.calls
    .filter((call) => call.segment.t0 <= at)
    .map((call) => ({
      ...call,
      tiles: call.tiles.filter(({ record, what }) => what === "check" || record.tDraft <= at),
    }));
  const tokens = round.tokens.filter((record) => record.tCommit !== null && record.tCommit <= at);
  const places = [...calls.flatMap((call) => call.tiles.map((tile) => tile.record.at)), ...tokens.map((x) => x.at)];
  const rows = round.rows.map((_, level) =>
    Math.max(0, ...calls.filter((c) => c.segment.level === level && c.tiles.length).map((c) => c.row + c.branches)),
  );
  return { ...round, calls, tokens, rows, columns: Math.max(1, ...places.map((place) => place - round.from + 1)) };
}

// The recursion of a round as a roll of calls: who asked whom for how many tokens, who verified what, and how many it
// holds then. Read from the model of a run.

/** One line. `ask`: `level` wants `count` tokens of the level below; `draft`: `level` offers `count`; `verify`: `level` keeps
 *  `kept` of `count` and holds `held`; `up`: `level` hands up `count`. depth: 0 is the target's.
 *  @typedef {{what: "ask"|"draft"|"verify"|"up", level: number, depth: number, t0: number, t1: number, count: number,
 *    kept: number, own: boolean, held: number}} RollLine */

/** @param {TraceModel} model @param {Round} round
 *  @returns {RollLine[]} in the order in which they happened */
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
 *  @param {TraceModel} model @param {RollLine[]} lines @returns {RollLine[]} */
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
