/** What a system's `shape` says (floors from the ground up, what each hands up, whether they work at the same
 *  time), what a drawing shows of its tokens, and the drawing in words. app/tabs/atlas/systems.py refuses other
 *  shapes. */

import { grammar } from "../../shared/levels/kinds.js";
import { levelPhrase } from "../../shared/levels/stack-names.js";
import { DRAWN } from "../../../text/en/atlas.js";

/** @typedef {{form: "chain"|"block"|"tree"|"comb"|"cells", widths: number[]}} Hand widths: of a chain its length, of a tree
 *    the children of a node by depth, of a comb its lines and their length
 *  @typedef {{kind: string, others: string[], times: number, hand: Hand|null}} Floor kind: "" where nobody drafts; others:
 *    what drafts beside it; times: how many of its sign stand side by side
 *  @typedef {{floors: Floor[], lanes: ""|"step"|"free"}} Shape */

const HAND = /^(chain|block|tree|comb|cells) ([\d.]+)$/;
const COUNTED = /^([a-z]+)([2-4])$/;

/** @param {string} text @returns {Shape} */
export function shapeOf(text) {
  const [drawn, lanes = ""] = text.split(" | lanes ");
  /** @type {Floor[]} */ const floors = [];
  for (const part of drawn.split(" > ")) {
    const [, form, widths] = HAND.exec(part) ?? [];
    if (!form) {
      const [, named = part, times = "1"] = (!grammar.kinds.has(part) && COUNTED.exec(part)) || [];
      const [kind, ...others] = named.split("+");
      floors.push({ kind, others, times: Number(times), hand: null });
      continue;
    }
    if (!floors.length) floors.push({ kind: "", others: [], times: 1, hand: null });
    floors[floors.length - 1].hand = {
      form: /** @type {Hand["form"]} */ (form),
      widths: widths.split(".").map(Number),
    };
  }
  return { floors, lanes: /** @type {Shape["lanes"]} */ (lanes) };
}

/** The nodes of what is handed up: {depth, at}, a parent before its children; `parent` is an index, -1 at the root.
 *  @param {Hand} hand @returns {{depth: number, parent: number, at: number}[]} at: its height, in leaves from the top */
export function nodesOf({ form, widths }) {
  if (form === "comb") {
    const [lines, length] = widths;
    return Array.from({ length: lines }, (_, line) =>
      Array.from({ length }, (_, depth) => ({ depth, parent: depth ? line * length + depth - 1 : -1, at: line })),
    ).flat();
  }
  if (form !== "tree") return Array.from({ length: widths[0] }, (_, depth) => ({ depth, parent: depth - 1, at: 0 }));
  /** @type {{depth: number, parent: number, at: number}[]} */ const nodes = [];
  let leaves = 0;
  const grow = (/** @type {number} */ depth, /** @type {number} */ parent, /** @type {boolean} */ first) => {
    // Only the likeliest branch is drawn with all its children: a tree of 3.2.1 stays readable.
    const wide = first ? widths[depth] : Math.min(1, widths[depth] ?? 0);
    for (let i = 0; i < (wide ?? 0); i++) {
      const node = { depth, parent, at: 0 };
      const index = nodes.push(node) - 1;
      const before = leaves;
      grow(depth + 1, index, first && i === 0);
      if (leaves === before) leaves += 1; // a leaf
      node.at = before;
    }
  };
  grow(0, -1, true);
  return nodes;
}

/** How many lines of tokens it takes. @param {Hand|null} hand */
export const linesOf = (hand) => (hand ? Math.max(...nodesOf(hand).map(({ at }) => at)) + 1 : 1);

/** How long it is. @param {Hand|null} hand */
export const lengthOf = (hand) => (hand ? Math.max(...nodesOf(hand).map(({ depth }) => depth)) + 1 : 0);

/** How many tokens are offered, all drawn ones and those left out of the picture. @param {Hand} hand */
export function sizeOf({ form, widths }) {
  if (form === "comb") return widths[0];
  if (form !== "tree") return widths[0];
  return widths.reduce(([all, level], wide) => [all + level * wide, level * wide], [0, 1])[0];
}

const reads = (/** @type {Floor} */ { kind }) => grammar.kinds.get(kind)?.reads;

/** Whether it reads nothing of the target but its last state. @param {Floor} floor */
export const isHead = (floor) => reads(floor)?.depth === 0;

/** Whether it is a lookup. @param {string} kind */
export const looksUp = (kind) => Boolean(grammar.kinds.get(kind)?.origins.length);

/** From where on floors are one body: exits and views stand inside the target. @param {Floor[]} floors */
export function bodyFrom(floors) {
  const first = floors.findIndex((floor) => reads(floor)?.weights === "" && !isHead(floor));
  return first < 0 ? floors.length - 1 : first;
}

// What a drawing shows of tokens: who wrote each, which are kept, and what leaves the top floor.

/** @typedef {"kept"|"rejected"|"spared"|"aside"} Fate spared: a loose rule keeps it all the same; aside: another candidate
 *    was taken
 *  @typedef {{x: number, line: number, parent: number, by: number, other: boolean, fate: Fate}} Token by: the floor
 *    that wrote it, of two that draft side by side the other one */

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

/** The tokens that a floor hands up, as the one above judges them.
 *  @param {Floor[]} floors @param {number} i @param {boolean} loosely @returns {Token[]} */
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

// A system's drawing in words.

/** @param {{shape: string}} system */
export function shapeSaid({ shape }) {
  const { floors, lanes } = shapeOf(shape);
  const name = (/** @type {string} */ kind) => DRAWN.floor[kind] ?? levelPhrase(kind);
  const drafters = (/** @type {string[]} */ kinds) => kinds.map(name).join(DRAWN.and);
  const said = floors.slice(0, -1).map(({ kind, others, hand }, i) => {
    const above = name(floors[i + 1].kind);
    if (!hand) return DRAWN.turns(name(kind), above);
    const what = DRAWN.hand[hand.form](sizeOf(hand));
    return kind ? DRAWN.judged(drafters([kind, ...others]), what, above) : DRAWN.rewritten(what, above);
  });
  const sentences = said.map((one) => `${one[0].toUpperCase()}${one.slice(1)}.`);
  return [...sentences, ...(lanes ? [DRAWN.lanes(floors.length)] : []), DRAWN.written].join(" ");
}
