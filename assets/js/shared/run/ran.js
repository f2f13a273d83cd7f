/** What a call ran of a shared model, in words and per layer. A span is {lo, hi, rows}: layers lo to hi - 1, once. */

import { layersText } from "../levels/trunk.js";
import { TRUNK } from "../../../text/en/tower.js";

/** @import {Span} from "./events.js" */

/** Spans of the same layers as one: [{lo, hi, rows, passes}], the deepest first. @param {Span[]} spans */
export function merged(spans) {
  const found = new Map();
  for (const { lo, hi, rows } of spans) {
    const key = `${lo} ${hi}`;
    const one = found.get(key) ?? { lo, hi, rows: 0, passes: 0 };
    found.set(key, { ...one, rows: one.rows + rows, passes: one.passes + 1 });
  }
  return [...found.values()].sort((a, b) => b.hi - a.hi || b.lo - a.lo);
}

/** A segment's layers in words: "layers 8–29 on 4 rows, 0–7 on 1 (bonus)"; "" when it shares no model.
 *  A bonus needs a row for the last drafted token, which the level below has not read yet: its layers are run on that
 *  row alone (as in LayerSkip).
 *  @param {{kind: string, ran?: Span[], rows: number, catchUp?: number, probes?: number, tokensIn: number}} segment */
export function ranText({ kind, ran, rows, catchUp = 0, probes = 0, tokensIn }) {
  if (!ran?.length) return "";
  const parts = merged(ran);
  const bonus = kind === "verify" && rows - catchUp - probes > tokensIn;
  const told = parts.map(({ lo, hi, rows: own, passes }, i) => ({
    layers: layersText(lo, hi),
    rows: own,
    passes,
    bonus: Boolean(i) && bonus && own === 1 && hi <= parts[0].lo,
  }));
  return TRUNK.ran(told, parts.length === 1 && parts[0].hi - parts[0].lo === 1);
}

/** A level's layers over a run: "8–29 in 24 passes, 0–7 in 24". @param {{ran?: Span[]}[]} segments */
export function passesText(segments) {
  const parts = merged(segments.flatMap((s) => s.ran ?? []));
  return TRUNK.passes(parts.map(({ lo, hi, passes }) => ({ layers: layersText(lo, hi), passes })));
}

/** Rows run per layer by each level. @param {{level: number, ran?: Span[]}[]} segments @param {number} layers
 *  @returns {Map<number, number[]>} level -> rows[layers] */
export function rowsByLayer(segments, layers) {
  const found = new Map();
  for (const { level, ran } of segments) {
    for (const { lo, hi, rows } of ran ?? []) {
      const counts = found.get(level) ?? Array(layers).fill(0);
      found.set(level, counts);
      for (let i = Math.max(0, lo); i < Math.min(hi, layers); i++) counts[i] += rows;
    }
  }
  return found;
}
