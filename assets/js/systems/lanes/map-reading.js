/** What the map of overlapping says: of one place on it, and of the drafters that stand there. */

import { nearestStop } from "../../tabs/planner/another/stops-slider.js";

const SAME = 0.005; // closer than half a percent, two are called equal
/** Edges of the bands of gain that are drawn apart: a second machine loses below the third, and gains from the fourth. */
export const EDGES = [0.8, 0.9, 1 - SAME, 1 + SAME, 1.1, 1.2, 1.3];
const [LINE, LETTER, BESIDE] = [15, 7, 11]; // px of a label: its height, about what a letter takes, and how far off it is
const MOST = 6; // lines that a label stands lower than its point

/**
 * @typedef {{stack: string, runs: boolean, ms: number, speedup: number}} OnOne
 * @typedef {OnOne & {tokens: number, verifying: number, drafting: number}} OnTwo
 * @typedef {{name: string, share: number, agreement: number, gain: number, pays_between: [number, number]|null,
 *   apart: OnOne, pearl: OnTwo, ahead: OnTwo, needs: string}} Drafter
 * @typedef {{shares: number[], agreements: number[], gains: number[][]}} GainMap
 * @typedef {{clock: string, one: OnOne, two: OnTwo|null, gain: number, pays: boolean, drafters: Drafter[], map: GainMap,
 *   }} SecondAnswer hsd_core/systems/lanes/second_machine.py
 */

/** @param {number} gain */
export const bandOf = (gain) => EDGES.filter((edge) => gain >= edge).length;

/** The first band in which a second machine gains. */
export const GAINING = EDGES.indexOf(1 + SAME) + 1;

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

/**
 * Where labels beside points stand so that none covers another, or a point: each as high as its point, or so many lines below.
 * @param {{x: number, y: number, text: string}[]} points @param {number} wide of the picture, px @param {number} [left] where it begins, px
 * @returns {{x: number, y: number, text: string, before: boolean}[]} before: it ends at x
 */
export function labelled(points, wide, left = 0) {
  const taken = points.map(({ x, y }) => ({ from: x - 7, to: x + 7, y: y + 4 })); // the points themselves
  return points.map(({ x, y, text }) => {
    const length = text.length * LETTER;
    const free = (/** @type {number} */ from, /** @type {number} */ on) =>
      from > left &&
      from + length < wide &&
      !taken.some((one) => one.from < from + length && from < one.to && Math.abs(one.y - on) < LINE);
    const sides = [x + BESIDE, x - BESIDE - length];
    let on = y + 4;
    while (!sides.some((from) => free(from, on)) && on < y + MOST * LINE) on += LINE;
    const from = sides.find((side) => free(side, on)) ?? sides[0];
    taken.push({ from, to: from + length, y: on });
    const before = from < x;
    return { x: before ? from + length : from, y: on, text, before };
  });
}
