/** What a level sees of the keys and values at a moment, as a row of cells: sink, chosen chunks, recent, and what came since. */

import { upTo } from "../kit/order.js";

/** @typedef {import("../run/trace.js").TraceModel} TraceModel */
/** @typedef {"none"|"whole"|"sink"|"chosen"|"recent"|"since"} Kind */
/** A stretch of positions of one kind; share: of the heads that see it. @typedef {{lo: number, hi: number, share: number, kind: Kind}} Stretch */
/** @typedef {{level: number, total: number, sees: number, heads: number, borrows: boolean, parts: {kind: Kind, count: number}[],
 *   cells: {kind: Kind, share: number}[]}} Held total: positions that the target has; sees: of them, at most by one head;
 *   borrows: it also reads the target's last layer */

export const CELLS = 96;
const SINK = 4; // of a draft with a window
/** @type {Kind[]} */ const KINDS = ["whole", "sink", "chosen", "recent", "since"];

/**
 * By level; none where no level sees less than all: then there is nothing to tell.
 * @param {TraceModel} model @param {number} at @returns {Held[]}
 */
export function heldBy(model, at) {
  const kv = model.kv[upTo(model.kv, at, (k) => k.t) - 1];
  const target = model.levels.length - 1;
  const cached = (/** @type {number} */ level) => kv?.levels.find((x) => x.level === level)?.cached ?? null;
  const total = cached(target) ?? Math.max(0, (model.header?.prompt_ids.length ?? 0) - 1);
  const found = model.levels.map((info, level) => {
    const view = model.views.filter((one) => one.level === level && one.t <= at).at(-1);
    const window = Number(info.params?.window ?? 0);
    const borrows = info.kind === "nano" && window > 0;
    if (view) return heldOf(level, total, viewed(view, total), view.slots, view.heads, false);
    if (borrows) return heldOf(level, total, windowed(cached(level) ?? total, window), window, 1, true);
    const has = level === target ? total : cached(level);
    return has
      ? heldOf(level, total, [{ lo: 0, hi: Math.min(has, total), share: 1, kind: "whole" }], has, 1, false)
      : null;
  });
  const partial = found.some((one) => one && one.parts.some((part) => part.kind !== "whole"));
  return partial ? found.filter((one) => one !== null) : [];
}

/** @param {import("../run/events.js").View} view @param {number} total @returns {Stretch[]} */
function viewed(view, total) {
  /** @type {Stretch[]} */ const stretches = [];
  const whole = (/** @type {{heads: number}} */ one) => one.heads === view.heads;
  view.held.forEach((one, i) => {
    /** @type {Kind} */
    const kind =
      one.lo === 0 && whole(one) ? "sink" : one.hi === view.upto && whole(one) && i > 0 ? "recent" : "chosen";
    stretches.push({ lo: one.lo, hi: one.hi, share: one.heads / view.heads, kind });
  });
  if (total > view.upto) stretches.push({ lo: view.upto, hi: total, share: 1, kind: "since" });
  return stretches;
}

/** @param {number} end @param {number} window @returns {Stretch[]} */
function windowed(end, window) {
  const first = Math.max(SINK, end - (window - SINK));
  /** @type {Stretch[]} */
  const both = [
    { lo: 0, hi: Math.min(SINK, end), share: 1, kind: "sink" },
    { lo: first, hi: end, share: 1, kind: "recent" },
  ];
  return both.filter((one) => one.lo < one.hi);
}

/**
 * @param {number} level @param {number} total @param {Stretch[]} stretches @param {number} slots @param {number} heads
 * @param {boolean} borrows @returns {Held}
 */
function heldOf(level, total, stretches, slots, heads, borrows) {
  const parts = KINDS.map((kind) => ({
    kind,
    count: stretches.filter((x) => x.kind === kind).reduce((sum, x) => sum + (x.hi - x.lo) * x.share, 0),
  })).filter((part) => part.count >= 0.5);
  const all = parts.reduce((sum, part) => sum + part.count, 0);
  const cells = cellsOf(total, stretches);
  return { level, total, sees: Math.min(total, slots, Math.round(all) || slots), heads, borrows, parts, cells };
}

/**
 * Cells of equal width over `total` positions: each has the kind that most of it is seen as, and how much of it is seen.
 * @param {number} total @param {Stretch[]} stretches @param {number} [most]
 */
export function cellsOf(total, stretches, most = CELLS) {
  const count = Math.min(most, Math.max(1, total));
  return Array.from({ length: count }, (_, i) => {
    const [lo, hi] = [(total * i) / count, (total * (i + 1)) / count];
    /** @type {Map<Kind, number>} */
    const seen = new Map();
    for (const x of stretches) {
      const both = Math.min(hi, x.hi) - Math.max(lo, x.lo);
      if (both > 0) seen.set(x.kind, (seen.get(x.kind) ?? 0) + both * x.share);
    }
    const [kind] = [...seen].sort((a, b) => b[1] - a[1])[0] ?? ["none"];
    const share = Math.min(1, [...seen.values()].reduce((sum, n) => sum + n, 0) / (hi - lo || 1));
    return { kind: /** @type {Kind} */ (kind), share };
  });
}
