/** A row of cells for each level: what it sees of the keys and values. Where all see all of them nothing is shown. */

import { h } from "../kit/dom.js";
import { badge } from "../levels/badge.js";
import { HELD } from "../../../text/en/anatomy.js";
import { upTo } from "../kit/order.js";
import { brought } from "../../systems/index.js";

/** @import {Kind, Sight, Stretch} from "../../systems/index.js" @import {TraceModel} from "../run/trace.js" */

const NAMED = ["sink", "chosen", "recent", "since"]; // in the legend

export function cacheStrips() {
  const el = h("div.hx-an-held", { role: "group", "aria-label": HELD.title, hidden: true });
  let drawn = "";
  return {
    el,
    /** @param {TraceModel} model @param {number} at a settled moment */
    show(model, at) {
      const rows = heldBy(model, at);
      const key = JSON.stringify(rows);
      if (key === drawn) return;
      drawn = key;
      el.hidden = !rows.length;
      const kinds = NAMED.filter((kind) => rows.some((row) => row.parts.some((part) => part.kind === kind)));
      const partial = rows.find((row) => row.parts.some((part) => part.kind !== "whole"));
      const hue = partial ? model.levels[partial.level].hue : null;
      const legend = kinds.map((kind) =>
        h("span", [h("i", { "data-kind": kind, "aria-hidden": "true", style: { "--hue": hue } }), HELD.kinds[kind]]),
      );
      el.replaceChildren(
        ...(rows.length ? [h("p.hx-an-held-legend", [h("span", HELD.title), legend])] : []),
        ...[...rows].reverse().flatMap((row) => line(model, row)),
      );
    },
  };
}

/** @param {TraceModel} model @param {Held} row */
function line(model, row) {
  const look = model.levels[row.level];
  const said = HELD.sees(look.name, row);
  const cells = row.cells.map((cell) => {
    const node = h("i", { style: { "--share": cell.kind === "none" ? "0" : String(Math.max(0.25, cell.share)) } });
    if (cell.kind !== "none") node.dataset.kind = cell.kind;
    return node;
  });
  return [
    h("span.hx-an-name", { title: look.name }, [badge(look), h("span", look.name)]),
    h(
      "span.hx-an-cells",
      { role: "img", tabindex: "0", "aria-label": said, "data-tip": said, style: { "--hue": look.hue } },
      [cells],
    ),
    h("span.hx-an-held-count", { "aria-hidden": "true", text: HELD.short(row.sees, row.total) }),
  ];
}

// What a level sees of the keys and values at a moment, as a row of cells: sink, chosen chunks, recent, and what came
// since.

/** @typedef {{level: number, total: number, sees: number, heads: number, borrows: boolean, parts: {kind: Kind, count: number}[],
 *   cells: {kind: Kind, share: number}[]}} Held total: positions that the target has; sees: of them, at most by one head;
 *   borrows: it also reads the target's last layer */

export const CELLS = 96;
/** @type {Kind[]} */ const KINDS = ["whole", "sink", "chosen", "recent", "since"];

/** By level; none where no level sees less than all: then there is nothing to tell.
 *  @param {TraceModel} model @param {number} at @returns {Held[]} */
export function heldBy(model, at) {
  const kv = model.kv[upTo(model.kv, at, (k) => k.t) - 1];
  const target = model.levels.length - 1;
  const cached = (/** @type {number} */ level) => kv?.levels.find((x) => x.level === level)?.cached ?? null;
  const total = cached(target) ?? Math.max(0, (model.header?.prompt_ids.length ?? 0) - 1);
  const found = model.levels.map((_, level) => {
    const has = level === target ? total : cached(level);
    const seen = { level, at, total, cached: cached(level) };
    for (const { of } of brought.sights) {
      const part = of(model, seen);
      if (part) return heldOf(level, total, part);
    }
    /** @type {Stretch[]} */ const whole = [{ lo: 0, hi: Math.min(has ?? 0, total), share: 1, kind: "whole" }];
    return has ? heldOf(level, total, { stretches: whole, slots: has, heads: 1, borrows: false }) : null;
  });
  const partial = found.some((one) => one && one.parts.some((part) => part.kind !== "whole"));
  return partial ? found.filter((one) => one !== null) : [];
}

/** @param {number} level @param {number} total @param {Sight} sight @returns {Held} */
function heldOf(level, total, { stretches, slots, heads, borrows }) {
  const parts = KINDS.map((kind) => ({
    kind,
    count: stretches.filter((x) => x.kind === kind).reduce((sum, x) => sum + (x.hi - x.lo) * x.share, 0),
  })).filter((part) => part.count >= 0.5);
  const all = parts.reduce((sum, part) => sum + part.count, 0);
  const cells = cellsOf(total, stretches);
  return { level, total, sees: Math.min(total, slots, Math.round(all) || slots), heads, borrows, parts, cells };
}

/** Cells of equal width over `total` positions: each has the kind that most of it is seen as, and how much of it is seen.
 *  @param {number} total @param {Stretch[]} stretches @param {number} [most] */
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
