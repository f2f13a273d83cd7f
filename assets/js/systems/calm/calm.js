/** CALM: how far up each token of the target went. A block in the lanes is a column of the model's layers, lit to the one
 *  where its tokens left. */

import { box, set, svg } from "../../shared/kit/svg.js";
import { fixed } from "../../../text/numbers.js";
import { bring } from "../index.js";
import { CALM } from "./words.js";

/** The part of a block above the exit. */
function left() {
  /** @type {any} */ let path = null;
  return {
    lay(/** @type {SVGElement} */ root) {
      path = svg("path.hx-block-left", {}, root);
    },
    attend() {},
    draw() {},
    /** @param {import("../../shared/run/trace.js").TraceModel} model @param {any} scale @param {number} until ns */
    blocks(model, { a, b, x, y, lane, width }, until) {
      const drawn = model.segments.map(({ notes, level, t0, t1 }) => {
        const layers = model.levels[level].layers;
        if (!notes?.left || !layers || t1 < a || t0 > b || t1 > until) return "";
        const [from, to] = [Math.max(0, x(t0)), Math.min(width, x(t1))];
        const each = (to - from) / notes.left.at.length;
        const unlit = (/** @type {number} */ at, /** @type {number} */ i) =>
          at < layers ? box(from + i * each, from + (i + 1) * each, y(level) + 2, (lane - 4) * (1 - at / layers)) : "";
        return notes.left.at.map(unlit).join("");
      });
      set(path, { d: drawn.join("") });
    },
  };
}

bring({
  lanes: [{ name: "left", create: left }],
  calls: [
    { name: "left", line: ({ left }) => (left ? CALM.call(left.at.join(", "), fixed(left.sure.at(-1) ?? 0, 2)) : "") },
  ],
  tallies: [
    {
      name: "left",
      words: CALM.figure,
      text: (s) => (s.left_tokens ? fixed(s.left_layers / s.left_tokens, 1) : null),
    },
  ],
});
