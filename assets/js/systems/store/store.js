/** A store of a text's states: how often a run asked it, and how much of a pass that took. */

import { box, set, svg } from "../../shared/kit/svg.js";
import { duration, fixed } from "../../../text/numbers.js";
import { bring } from "../index.js";
import { STORE } from "./words.js";

const FOOT = 4; // px

/** The feet of blocks: the time of a pass that went into its query, at its end. */
function feet() {
  /** @type {any} */ let path = null;
  return {
    lay(/** @type {SVGElement} */ root) {
      path = svg("path.hx-block-asked", {}, root);
    },
    attend() {},
    draw() {},
    /** @param {import("../../shared/run/trace.js").TraceModel} model @param {any} scale @param {number} until ns */
    blocks(model, { a, b, x, y, lane, width }, until) {
      const drawn = model.segments.map(({ notes, level, t0, t1 }) => {
        if (!notes?.asked || t1 < a || t0 > b || t1 > until) return "";
        const [left, right] = [Math.max(0, x(t0)), Math.min(width, x(t1))];
        const own = Math.max(1, (notes.asked.ns / (t1 - t0)) * (right - left)); // it comes last in a pass
        return box(right - own, right - 0.7, y(level) + 2 + lane - 4 - FOOT, FOOT);
      });
      set(path, { d: drawn.join("") });
    },
  };
}

bring({
  lanes: [{ name: "queries", create: feet }],
  calls: [{ name: "queries", line: ({ asked }) => (asked ? STORE.asked(asked.rows, duration(asked.ns)) : "") }],
  tallies: [
    {
      name: "asked",
      words: STORE.figure,
      text: (s) => (s.asked ? STORE.asks(s.asked, one(s.asked_rows / s.asked), fixed(s.asked_ms, 0)) : null),
    },
  ],
});

const one = (/** @type {number} */ value) => fixed(value, value >= 100 ? 0 : 1);
