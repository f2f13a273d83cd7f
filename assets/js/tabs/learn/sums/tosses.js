/** The rule `tokenwise` tossed many times over one place of the text: a draft from q is kept with probability min(1, p/q),
 *  else a replacement is drawn from the residual (hsd_core/core/rules). Distributions are lists of chances that sum to 1. */

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

/**
 * One toss: which token comes out, and whether it was the draft.
 * @param {number[]} p @param {number[]} q @param {From} from @param {() => number} random in [0, 1)
 */
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
