/** Levels that share one model: which layers each of them runs itself, and which it reuses from the levels below.
 *  A *trunk* is one model's layers in one run; its members are levels, the deepest one last. Layers count from 0. */

/** The layers `lo` to `hi` (exclusive) in words: "8–29", "3". @param {number} lo @param {number} hi */
export function layersText(lo, hi) {
  return hi - lo === 1 ? String(lo) : `${lo}\u2013${hi - 1}`;
}

/**
 * @typedef {{kind: string, layers: number|null, params?: Record<string, any>, shares?: number|null}} Run a level of a
 *   run
 */
/** @typedef {{name: string, options: Record<string, string>}} Written a level of a stack's text */
/**
 * @typedef {{layers: number, members: {index: number, depth: number, lo: number}[]}} Trunk `lo`: where its own layers
 *   begin
 */

/**
 * The trunks of a run, out of its header.
 * @param {{levels: Run[]}} header
 * @returns {Trunk[]}
 */
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
  return [...groups].map(([root, members]) => trunk(layersOf(root, header.levels), members)).filter((one) => one !== null);
}

/**
 * The trunks of a stack that was not run yet, out of its text.
 * @param {Written[]} levels cheapest first
 * @param {number} layers of the preset's model, 0 when unknown
 */
export function trunksPlanned(levels, layers) {
  const groups = new Map();
  levels.forEach((level, index) => {
    const weights = weightsOf(level, levels.at(-1));
    const depth = level.name === "exit" ? +level.options.at : level.name === "nano" ? 0 : layers;
    if (weights === null || !Number.isInteger(depth)) return;
    if (!groups.has(weights)) groups.set(weights, []);
    groups.get(weights).push({ index, depth });
  });
  return [...groups.values()].map((members) => trunk(layers, members)).filter((one) => one !== null);
}

/**
 * Whose weights a level reads, as a name; null when they are its own alone.
 * @param {Written} level
 * @param {Written} [target]
 */
export function weightsOf(level, target) {
  const own = target?.name === "target" ? target.options.dtype || "target" : null;
  if (level.name === "int8" || level.name === "int4") return level.name;
  if (level.name === "exit") return level.options.dtype || own;
  return level.name === "target" || level.name === "nano" ? own : null;
}

/**
 * After how many layers a level of a run reads; all of them for a whole pass.
 * @param {Run} level
 * @param {number} layers
 */
function depthOf(level, layers) {
  if (level.kind === "nano") return 0;
  return level.kind === "exit" ? level.params?.at ?? level.layers ?? 0 : layers;
}

/**
 * How many layers a trunk's model has. Exits of a copy that no level runs as a whole: as many as the target.
 * @param {number} root
 * @param {Run[]} levels
 */
function layersOf(root, levels) {
  return (levels[root]?.kind === "exit" ? levels[levels.length - 1].layers : levels[root]?.layers) ?? 0;
}

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
  if (depth === 0) return "reads the token embeddings";
  const own = depth > lo ? `runs ${layersText(lo, depth)}` : "runs no layer of its own";
  return lo > 0 ? `${own}, reuses ${layersText(0, lo)}` : own;
}

/** Where a level of a run stops: "exit at layer 8 of 30", "all 30 layers"; "" for one that shares nothing.
 *  `depth`: where it read this token, when the trace tells.
 *  @param {Run} level @param {Run[]} levels @param {number|null} depth */
export function stopText(level, levels, depth = null) {
  const layers = level.shares === null || level.shares === undefined ? 0 : layersOf(level.shares, levels);
  if (!layers) return "";
  if (level.kind === "exit") return `exit at layer ${depth ?? depthOf(level, layers)} of ${layers}`;
  return level.kind === "nano" ? `layer 0 of ${layers}: the token embeddings` : `all ${layers} layers`;
}
