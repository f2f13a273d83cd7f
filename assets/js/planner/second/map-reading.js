/** What the map of overlapping says: of one place on it, and of the drafters that stand there. */

import { nearestStop } from "../another/stops-slider.js";

/** Edges of the bands of gain that are drawn apart; below 1 a second machine loses. */
export const EDGES = [0.8, 0.9, 1, 1.1, 1.2, 1.3];
const SAME = 0.005; // closer than half a percent, two are called equal
const NEAR = 22; // px: drafters that stand closer have one label

/**
 * @typedef {{stack: string, runs: boolean, ms: number, speedup: number}} OnOne
 * @typedef {OnOne & {tokens: number, verifying: number, drafting: number}} OnTwo
 * @typedef {{name: string, share: number, agreement: number, gain: number, pays_between: [number, number]|null,
 *   apart: OnOne, pearl: OnTwo, ahead: OnTwo, needs: string}} Drafter
 * @typedef {{shares: number[], agreements: number[], gains: number[][]}} GainMap
 * @typedef {{clock: string, one: OnOne, two: OnTwo|null, gain: number, pays: boolean, drafters: Drafter[], map: GainMap,
 *   cores?: any}} SecondAnswer hsd_core/theory/search/second_machine.py
 */

/** @param {number} gain */
export const bandOf = (gain) => EDGES.filter((edge) => gain >= edge).length;

/** @param {number} gain @returns {"yes"|"no"|"even"} */
export const paysAt = (gain) => (Math.abs(gain - 1) < SAME ? "even" : gain > 1 ? "yes" : "no");

/** The gain of one drafter of constant cost: of the nearest place of the map. @param {GainMap} map @param {number} share @param {number} agreement */
export const gainAt = (map, share, agreement) =>
  map.gains[nearestStop(map.agreements, agreement)][nearestStop(map.shares, share)];

/** The quicker of its two schedules. @param {Drafter} drafter */
export const together = ({ pearl, ahead }) => (pearl.ms <= ahead.ms ? pearl : ahead);

/** Stretches of one band in a row of the map: [band, first place, places]. @param {number[]} row @returns {[number, number, number][]} */
export function stretches(row) {
  /** @type {[number, number, number][]} */ const found = [];
  row.forEach((gain, i) => {
    const last = found[found.length - 1];
    if (last && last[0] === bandOf(gain)) last[2] += 1;
    else found.push([bandOf(gain), i, 1]);
  });
  return found;
}

/** Drafters that stand close together, each group with the place of its label. @template T
 *  @param {{x: number, y: number, of: T}[]} points @returns {{x: number, y: number, all: T[]}[]} */
export function grouped(points) {
  /** @type {{x: number, y: number, all: T[]}[]} */ const found = [];
  for (const { x, y, of } of points) {
    const group = found.find((one) => Math.abs(one.x - x) < NEAR && Math.abs(one.y - y) < NEAR);
    if (group) group.all.push(of);
    else found.push({ x, y, all: [of] });
  }
  return found;
}
