/** Levels that share one model: which layers each of them runs itself, and which it reuses from the levels below.
 *  A *trunk* is one model's layers in one run; its members are levels, the deepest one last. Layers count from 0. */

import { depthsOf, grammar, kindOf } from "./kinds.js";
import { TRUNK } from "../../../text/en/tower.js";

/** The layers `lo` to `hi` (exclusive) in words: "8–29", "3". @param {number} lo @param {number} hi */
export function layersText(lo, hi) {
  return hi - lo === 1 ? String(lo) : `${lo}\u2013${hi - 1}`;
}

/** @typedef {{kind: string, layers: number|null, params?: Record<string, any>, shares?: number|null}} Run a level of a
 *    run */
/** @typedef {{name: string, options: Record<string, string>}} Written a level of a stack's text */
/** @typedef {{layers: number, members: {index: number, depth: number, lo: number}[]}} Trunk `lo`: where its own layers
 *    begin */

/** The trunks of a run, out of its header. @param {{levels: Run[]}} header @returns {Trunk[]} */
export function trunksOf(header) {
  /** @type {Map<number, {index: number, depth: number}[]>} */
  const groups = new Map();
  header.levels.forEach((level, index) => {
    const root = level.shares;
    if (root === null || root === undefined || !header.levels[root]) return;
    const members = groups.get(root) ?? [];
    groups.set(root, members);
    members.push({ index, depth: depthOf(level, layersOf(root, header.levels)) });
  });
  return [...groups]
    .map(([root, members]) => trunk(layersOf(root, header.levels), members))
    .filter((one) => one !== null);
}

/** The trunks of a stack that was not run yet, out of its text.
 *  @param {Written[]} levels cheapest first
 *  @param {number} layers of the preset's model, 0 when unknown */
export function trunksPlanned(levels, layers) {
  const groups = new Map();
  levels.forEach((level, index) => {
    const reads = grammar.kinds.get(level.name)?.reads;
    const weights = weightsOf(level, levels.at(-1));
    const at = typeof reads?.depth === "string" ? (depthsOf(level.options[reads.depth]).at(-1) ?? NaN) : reads?.depth;
    const depth = at ?? layers;
    if (weights === null || !Number.isInteger(depth)) return;
    if (!groups.has(weights)) groups.set(weights, []);
    groups.get(weights).push({ index, depth });
  });
  return [...groups.values()].map((members) => trunk(layers, members)).filter((one) => one !== null);
}

/** Whose weights a level reads, as a name; null when they are its own alone. @param {Written} level
 *  @param {Written} [target] @returns {string|null} */
function weightsOf(level, target) {
  const reads = grammar.kinds.get(level.name)?.reads;
  if (!reads) return null;
  const shared = target && grammar.kinds.get(target.name)?.reads ? target.options.dtype || target.name : null;
  return reads.weights || level.options.dtype || shared;
}

/** After how many layers a level of a run reads; all of them for a whole pass. @param {Run} level
 *  @param {number} layers */
function depthOf(level, layers) {
  const depth = kindOf(level.kind).reads?.depth ?? layers;
  return typeof depth === "string" ? (level.params?.[depth] ?? level.layers ?? 0) : depth;
}

/** How many layers a trunk's model has. Exits of a copy that no level runs as a whole: as many as the target.
 *  @param {number} root @param {Run[]} levels */
function layersOf(root, levels) {
  return (early(levels[root]?.kind) ? levels[levels.length - 1].layers : levels[root]?.layers) ?? 0;
}

/** Whether levels of a kind read a model after some of its layers. @param {string} kind */
const early = (kind) => typeof kindOf(kind).reads?.depth === "string";

/** @param {number} layers @param {{index: number, depth: number}[]} members @returns {Trunk|null} */
function trunk(layers, members) {
  if (!(layers > 0) || members.length < 2) return null;
  let reached = 0;
  const placed = members.map(({ index, depth }) => {
    const lo = Math.min(reached, depth);
    reached = Math.max(reached, depth);
    return { index, depth, lo };
  });
  return { layers, members: placed };
}

/** A member's share in words: "runs 8–29, reuses 0–7". @param {{depth: number, lo: number}} member */
export function shareText({ depth, lo }) {
  if (depth === 0) return TRUNK.embeddings;
  const own = depth > lo ? TRUNK.runs(layersText(lo, depth)) : TRUNK.runsNone;
  return lo > 0 ? TRUNK.reuses(own, layersText(0, lo)) : own;
}

/** Where a level of a run stops: "exit at layer 8 of 30", "all 30 layers"; "" for one that shares nothing.
 *  `depth`: where it read this token, when the trace tells.
 *  @param {Run} level @param {Run[]} levels @param {number|null} depth */
export function stopText(level, levels, depth = null) {
  const layers = level.shares === null || level.shares === undefined ? 0 : layersOf(level.shares, levels);
  if (!layers) return "";
  if (early(level.kind)) return TRUNK.exit(depth ?? depthOf(level, layers), layers);
  return depthOf(level, layers) === 0 ? TRUNK.bottom(layers) : TRUNK.whole(layers);
}
