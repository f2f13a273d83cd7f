/** The distributions that a verdict was reached with, rebuilt from what the trace keeps: the heads of the raw rows, and what was
 *  said of single tokens. A raw row is a softmax at temperature 1; a distribution has gone through the run's temperature, top-k
 *  and top-p, as in hsd_core/models/sampling.py. Tokens beyond the head are one symbol: "all others". */

import { greedy } from "../levels/greedy.js";

/** @import {Row} from "./events.js" */

/** @typedef {{id: number, p: number}} Known a token's probability under the distribution, as the trace gives it */
/** @typedef {{probs: Map<number, number>, tail: number, certain: boolean, close: boolean}} Distribution `tail`: all others together.
 *    certain: one token has all of it. close: nothing had to be estimated. */

const WHOLE = 2e-4; // what six digits a figure may add up to

/** @param {?Row} row
 *  @param {Record<string, any>} sampling of the trace's header @param {Known[]} known
 *  @param {boolean} [named] the row is a token that was named, not a distribution
 *  @returns {Distribution|null} null where the rows were not kept */
export function distributionOf(row, sampling, known = [], named = false) {
  if (!row?.ids.length) return null;
  const { temperature = 1, top_k = 0, top_p = 1 } = sampling;
  if (named || (row.probs[0] === 1 && row.ids.length === 1)) return distributionFrom([[row.ids[0], 1]], 0, true);
  if (greedy({ temperature, top_k })) return distributionFrom([[row.ids[0], 1]], 0, true);
  const cut = top_k > 0 && top_k <= row.ids.length ? top_k : row.ids.length;
  const ids = row.ids.slice(0, cut);
  const weights = row.probs.slice(0, cut).map((p) => p ** (1 / temperature));
  const over = cut < row.ids.length || cut === top_k ? 0 : row.tail;
  const anchor = known.find(({ id, p }) => p > 0 && ids.includes(id));
  const raw = temperature === 1 && top_p >= 1 && over === row.tail;
  const scale = raw ? 1 : anchor ? weights[ids.indexOf(anchor.id)] / anchor.p : null;
  const dist =
    scale === null ? guessed(ids, weights, over, { temperature, top_p }, row) : scaled(ids, weights, scale, top_p < 1);
  return told(dist, known, ids);
}

/** With a token whose probability is known, so is what all of them were divided by.
 *  @param {number[]} ids @param {number[]} weights @param {number} scale @param {boolean} cuts */
function scaled(ids, weights, scale, cuts) {
  /** @type {[number, number][]} */ const pairs = [];
  let sum = 0;
  for (let i = 0; i < ids.length; i++) {
    const p = weights[i] / scale;
    if (cuts && sum + p > 1 + WHOLE) break; // top-p ended before it
    pairs.push([ids[i], p]);
    sum += p;
  }
  const tail = pairs.length < ids.length || 1 - sum < WHOLE ? 0 : 1 - sum;
  return distributionFrom(pairs, tail, true);
}

/** Without one: the others weigh at most as if each were as likely as the last of the head.
 *  @param {number[]} ids @param {number[]} weights @param {number} over
 *  @param {{temperature: number, top_p: number}} sampling @param {Row} row */
function guessed(ids, weights, over, { temperature, top_p }, row) {
  const head = weights.reduce((a, b) => a + b, 0);
  const last = row.probs[ids.length - 1];
  const most = over > 0 ? over * last ** (1 / temperature - 1) : 0;
  const least = over > 0 && temperature > 1 ? over : 0; // flattened, they gain weight: no bound but from below
  const others = temperature <= 1 ? most / 2 : Math.max(most, least);
  const total = head + others;
  let sum = 0;
  /** @type {[number, number][]} */ const pairs = [];
  for (let i = 0; i < ids.length && sum < top_p * total; i++) {
    pairs.push([ids[i], weights[i]]);
    sum += weights[i];
  }
  const ends = sum >= top_p * (head + most);
  const begins = sum - (pairs.at(-1)?.[1] ?? 0) < top_p * head;
  const whole = top_p < 1 && ends ? sum : total * (top_p < 1 ? Math.max(top_p, sum / total) : 1);
  const tail = top_p < 1 && ends ? 0 : Math.max(0, 1 - sum / whole);
  const close = over === 0 || (temperature <= 1 && top_p < 1 && ends && begins);
  return distributionFrom(
    pairs.map(([id, w]) => [id, w / whole]),
    tail,
    close,
  );
}

/** What the trace says of single tokens stands above what was rebuilt: of those beyond the head too. */
function told(/** @type {Distribution} */ dist, /** @type {Known[]} */ known, /** @type {number[]} */ head) {
  for (const { id, p } of known) {
    if (head.includes(id)) continue;
    if (dist.probs.has(id)) continue;
    dist.probs.set(id, p);
    dist.tail = Math.max(0, dist.tail - p);
  }
  return dist;
}

/** @param {[number, number][]} pairs @param {number} tail @param {boolean} close */
function distributionFrom(pairs, tail, close) {
  const probs = new Map(pairs);
  return { probs, tail, close, certain: pairs.length === 1 && tail === 0 };
}

/** One token or all others, null, under a distribution. @param {Distribution} dist @param {number|null} id */
export const chance = (dist, id) => (id === null ? dist.tail : (dist.probs.get(id) ?? 0));

/** Two distributions over the same symbols: the tokens of p's head and those that both are known of; null for all others, last. A
 *  token of q alone of which p says nothing counts among the others.
 *  @param {Distribution} p @param {Distribution} q @param {number[]} [always]
 *  @returns {{ids: (number|null)[], p: number[], q: number[]}} falling by p */
export function sideBySide(p, q, always = []) {
  const ids = [...p.probs.keys()];
  for (const id of [...q.probs.keys(), ...always])
    if (!ids.includes(id) && (p.tail === 0 || p.probs.has(id) || always.includes(id))) ids.push(id);
  ids.sort((a, b) => chance(p, b) - chance(p, a) || chance(q, b) - chance(q, a));
  const of = (/** @type {Distribution} */ dist) => ids.map((id) => chance(dist, id));
  const [ps, qs] = [of(p), of(q)];
  const rest = (/** @type {number[]} */ list) => Math.max(0, 1 - list.reduce((a, b) => a + b, 0));
  const [pRest, qRest] = [rest(ps), rest(qs)];
  if (pRest < WHOLE && qRest < WHOLE) return { ids, p: ps, q: qs };
  return { ids: [...ids, null], p: [...ps, pRest], q: [...qs, qRest] };
}

/** norm(max(p - q, 0)); p itself where nothing is left. @param {number[]} p @param {number[]} q */
export function residualOf(p, q) {
  const left = p.map((x, i) => Math.max(0, x - q[i]));
  const mass = left.reduce((a, b) => a + b, 0);
  return mass > 1e-9 ? left.map((x) => x / mass) : p;
}

/** Half the sum of |a - b|: 0 for the same distribution, 1 for distributions that share nothing. @param {number[]} a @param {number[]} b */
export const distance = (a, b) => a.reduce((sum, x, i) => sum + Math.abs(x - b[i]), 0) / 2;
