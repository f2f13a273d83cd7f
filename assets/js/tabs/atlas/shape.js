/** What a system's `shape` says: floors from the ground up, what each hands up, and whether they work at the same time.
 *  app/tabs/atlas/systems.py refuses others. */

import { grammar } from "../../shared/levels/kinds.js";

/**
 * @typedef {{form: "chain"|"block"|"tree"|"comb"|"cells", widths: number[]}} Hand widths: of a chain its length, of a tree
 *   the children of a node by depth, of a comb its lines and their length
 * @typedef {{kind: string, others: string[], times: number, hand: Hand|null}} Floor kind: "" where nobody drafts; others:
 *   what drafts beside it; times: how many of its sign stand side by side
 * @typedef {{floors: Floor[], lanes: ""|"step"|"free"}} Shape
 */

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
