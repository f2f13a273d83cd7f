/** Two models in turn: who wrote which token, and the entropy that decides. In the lanes the small model's blocks are
 *  pale, and a line over them is the mean entropy; it is dashed where the threshold is. */

import { box, set, svg } from "../../shared/kit/svg.js";
import { fixed, rounded } from "../../../text/numbers.js";
import { bring } from "../index.js";
import { TURNS } from "./words.js";

const MOST = 6; // bits, at the top of a lane

/** What is drawn over the target's lane. */
function entropies() {
  /** @type {Record<string, any>} */ const paths = {};
  return {
    lay(/** @type {SVGElement} */ root) {
      for (const name of ["small", "bits", "tau"]) paths[name] = svg(`path.hx-turns-${name}`, {}, root);
    },
    attend() {},
    draw() {},
    /** @param {import("../../shared/run/trace.js").TraceModel} model @param {any} scale @param {number} until ns */
    blocks(model, { a, b, x, y, lane, width }, until) {
      const top = model.levels.length - 1;
      const { tau, window } = /** @type {any} */ (model.header?.levels[top]?.params ?? {});
      const high = (/** @type {number} */ bits) => y(top) + 2 + (lane - 4) * (1 - Math.min(bits, MOST) / MOST);
      /** @type {number[]} */ const seen = [];
      const [pale, line] = [/** @type {string[]} */ ([]), /** @type {string[]} */ ([])];
      for (const { notes, level, t0, t1 } of model.segments) {
        if (!notes?.turns || t1 > until) continue;
        seen.push(...notes.turns.bits);
        if (t1 < a || t0 > b) continue;
        const [from, to] = [Math.max(0, x(t0)), Math.min(width, x(t1))];
        if (!notes.turns.large[0]) pale.push(box(from, to, y(level) + 2, lane - 4));
        const last = seen.slice(-window);
        const mean = last.reduce((sum, bits) => sum + bits, 0) / last.length;
        line.push(`${line.length ? "L" : "M"}${((from + to) / 2).toFixed(1)} ${high(mean).toFixed(1)}`);
      }
      set(paths.small, { d: pale.join("") });
      set(paths.bits, { d: line.join("") });
      set(paths.tau, { d: line.length ? `M0 ${high(tau)}H${width}` : "" });
    },
  };
}

bring({
  lanes: [{ name: "turns", create: entropies }],
  calls: [
    {
      name: "turns",
      line: ({ turns }) => (turns ? TURNS.call(!!turns.large[0], fixed(turns.bits.at(-1) ?? 0, 1)) : ""),
    },
  ],
  tallies: [
    {
      name: "turns",
      words: TURNS.figure,
      text: (s) => (s.turn_tokens ? TURNS.share(rounded((100 * s.large_tokens) / s.turn_tokens)) : null),
    },
  ],
});
