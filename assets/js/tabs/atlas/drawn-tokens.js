/** What a drawing shows of tokens: who wrote each, which are kept, and what leaves the top floor. */

import { lengthOf, nodesOf } from "./shape.js";

/**
 * @typedef {import("./shape.js").Floor} Floor
 * @typedef {"kept"|"rejected"|"spared"|"aside"} Fate spared: a loose rule keeps it all the same; aside: another candidate
 *   was taken
 * @typedef {{x: number, line: number, parent: number, by: number, other: boolean, fate: Fate}} Token by: the floor
 *   that wrote it, of two that draft side by side the other one
 */

const ORDER = [2, 1, 4, 3, 6, 5]; // in which a diffusion model fills places

/** How many tokens of a line live: the last one is the one that teaches. @param {number} length */
const living = (length) => Math.max(1, length - 1);

/** Who wrote the nth token of what a floor hands up: those below it, then itself. @param {Floor[]} floors @param {number} i @param {number} nth @returns {number} */
export function writer(floors, i, nth) {
  const below = floors[i - 1];
  if (!below?.hand || !below.kind) return i;
  const kept = living(lengthOf(below.hand));
  const at = nth % (kept + 1);
  return at < kept ? writer(floors, i - 1, at) : i;
}

/**
 * The tokens that a floor hands up, as the one above judges them.
 * @param {Floor[]} floors @param {number} i @param {boolean} loosely
 * @returns {Token[]}
 */
export function tokensOf(floors, i, loosely) {
  const { hand, others } = floors[i];
  if (!hand) return [];
  const last = lengthOf(hand) - 1;
  return nodesOf(hand).map(({ depth, parent, at }) => ({
    ...{ x: depth, line: at, parent, by: writer(floors, i, depth), other: others.length > 0 && at % 2 > 0 },
    fate: at > 0 ? "aside" : depth < last || last === 0 ? "kept" : loosely ? "spared" : "rejected",
  }));
}

/** What the top floor writes: the tokens that it kept, then its own; of models that take turns, both. @param {Floor[]} floors @param {boolean} loosely @returns {number[]} */
export function writtenBy(floors, loosely) {
  const top = floors.length - 1;
  const { hand = null } = floors[top - 1] ?? {};
  if (!hand) return top ? [0, 0, 0, top, 0, 0] : [0, 0, 0];
  const length = lengthOf(hand);
  const kept = loosely || length === 1 ? length : length - 1;
  const from = floors[top - 1].kind ? top - 1 : top; // a block that the target rewrites is its own
  return [...Array.from({ length: kept }, (_, nth) => writer(floors, from, nth)), top];
}

/** In which order the place is filled, counted from 1. @param {number} place */
export const turnOf = (place) => ORDER[place % ORDER.length];
