/** Drawing one position again and again from its two distributions, by the right act and by two wrong ones. Seeded: the same draws
 *  whenever they are asked for. */

import { distributionsOf } from "../../../shared/anatomy/act.js";
import { distance, residualOf, sideBySide } from "../../../shared/run/distributions.js";

/** @import {Judgement, TokenRecord} from "../../../shared/run/records.js"
 *  @import {TraceModel} from "../../../shared/run/trace.js" */

/** @typedef {{ids: (number|null)[], p: number[], q: number[]}} Pair two distributions over the same symbols
 *  @typedef {"right"|"resample"|"looks"} Rule
 *  @typedef {{drafted: number, coin: number, alpha: number, kept: boolean, out: number}} Draw places of symbols */

/** @type {Rule[]} */
export const RULES = ["right", "resample", "looks"];

/** Uniform numbers in [0, 1): mulberry32. @param {number} seed */
export function uniforms(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 4294967296;
  };
}

/** The place that a uniform number falls on. @param {number[]} dist @param {number} u */
export function pick(dist, u) {
  let sum = 0;
  let last = 0;
  const total = dist.reduce((a, b) => a + b, 0);
  for (let i = 0; i < dist.length; i++) {
    if (dist[i] <= 0) continue;
    last = i;
    sum += dist[i] / total;
    if (u < sum) return i;
  }
  return last;
}

/** @param {number} p @param {number} q */
const ratio = (p, q) => (q > 0 ? Math.min(1, p / q) : Number(p > 0));

/** One draw. right: draft from q, keep it with min(1, p / q), else the residual. resample: else p. looks: it draws until
 *  it sees a token that would be kept. @param {Pair} pair @param {Rule} rule @param {() => number} next
 *  @returns {Draw} */
export function draw({ p, q }, rule, next) {
  for (let tries = 0; ; tries++) {
    const drafted = pick(q, next());
    const alpha = ratio(p[drafted], q[drafted]);
    const coin = next();
    const kept = coin < alpha;
    if (kept) return { drafted, coin, alpha, kept, out: drafted };
    if (rule === "looks" && tries < 1000) continue;
    return { drafted, coin, alpha, kept, out: pick(rule === "right" ? residualOf(p, q) : p, next()) };
  }
}

/** The distribution that a rule fills towards. @param {Pair} pair @param {Rule} rule */
export function limit({ p, q }, rule) {
  if (rule === "right") return p;
  const both = p.map((x, i) => Math.min(x, q[i]));
  const kept = both.reduce((a, b) => a + b, 0);
  if (rule === "looks") return kept > 1e-9 ? both.map((x) => x / kept) : p;
  return both.map((x, i) => x + (1 - kept) * p[i]);
}

/** How far n draws from p itself are expected to lie from p: half the sum of the mean deviations, sqrt(2 p (1 - p) / (pi n)).
 *  @param {number[]} p @param {number} n */
export const expected = (p, n) => p.reduce((sum, x) => sum + Math.sqrt((2 * x * (1 - x)) / (Math.PI * n)), 0) / 2;

/** The standard error of a share p after n draws. @param {number} p @param {number} n */
export const standardError = (p, n) => Math.sqrt((p * (1 - p)) / Math.max(1, n));

/** Histograms of the three rules that grow together. */
export class Tally {
  /** @param {Pair} pair @param {number} seed */
  constructor(pair, seed) {
    this.pair = pair;
    this.n = 0;
    this.kept = 0; // drafts of the right act
    /** @type {Draw|null} */ this.last = null;
    this.counts = Object.fromEntries(RULES.map((rule) => [rule, pair.ids.map(() => 0)]));
    this._next = Object.fromEntries(RULES.map((rule, i) => [rule, uniforms(seed * 31 + i + 1)]));
  }

  /** Draws on until n draws were made. @param {number} n */
  to(n) {
    for (; this.n < n; this.n++)
      for (const rule of RULES) {
        const one = draw(this.pair, rule, this._next[rule]);
        this.counts[rule][one.out] += 1;
        if (rule !== "right") continue;
        this.last = one;
        this.kept += Number(one.kept);
      }
  }

  /** @param {Rule} rule */
  shares(rule) {
    return this.counts[rule].map((x) => x / Math.max(1, this.n));
  }

  /** Total variation to p after the draws made. @param {Rule} rule */
  off(rule) {
    return distance(this.shares(rule), this.pair.p);
  }
}

// ---- The positions of a run that can be drawn again: verdicts of which both distributions are known.

/** @typedef {{record: TokenRecord, verdicts: Judgement[]}} Candidate */

const LOOKED_AT = 1500; // verdicts, for the first choice

/** @param {TraceModel} model @returns {Candidate[]} by position */
export function candidatesOf(model) {
  const found = [];
  for (const record of model.tokens.values()) {
    const verdicts = record.judgements.filter((j) => j.pRow?.ids.length && j.qRow?.ids.length);
    if (verdicts.length) found.push({ record, verdicts });
  }
  return found.sort((a, b) => a.record.at - b.record.at || a.record.serial - b.record.serial);
}

/** The two distributions of a verdict over the same symbols; `close`: nothing had to be estimated.
 *  @param {TraceModel} model @param {TokenRecord} record @param {Judgement} j */
export function pairOf(model, record, j) {
  const { p, q, own } = distributionsOf(model, record, j);
  if (!p || !q) return null;
  const always = [record.id, ...(own ? [own.id] : [])].filter((id) => p.probs.has(id));
  return { ...sideBySide(p, q, always), close: p.close && q.close, named: q.certain };
}

/** The verdict at which the wrong rules go furthest astray, both of them.
 *  @param {TraceModel} model @param {Candidate[]} candidates @returns {{record: TokenRecord, level: number}|null} */
export function telling(model, candidates) {
  /** @type {{record: TokenRecord, level: number}|null} */ let best = null;
  let most = -1;
  let seen = 0;
  for (const { record, verdicts } of candidates)
    for (const j of verdicts) {
      if (seen++ > LOOKED_AT) return best;
      const pair = pairOf(model, record, j);
      if (!pair?.close) continue;
      const off = Math.min(distance(limit(pair, "resample"), pair.p), distance(limit(pair, "looks"), pair.p));
      // Two distributions teach more than a lookup.
      const worth = off * (pair.named ? 0.3 : 1);
      if (worth > most) [most, best] = [worth, { record, level: j.level }];
    }
  return best;
}
