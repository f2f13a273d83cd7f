/** What PEARL's lock step gives, beside one level after another, where each token is kept with the same probability: tested
 *  against hsd_core/theory. Times are in passes of the target. */

import { yielded } from "./yields.js";

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
