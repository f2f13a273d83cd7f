/** A batch as a picture: a lane for each request, in it its passes as blocks, in the colour of their level, as wide as they
 *  took and the higher the more rows the request had in them. A line stands where the first text ends. What comes after the
 *  cursor is faint. */

import { box, set, svg } from "../../shared/kit/svg.js";

/** @import {Batches} from "./batches.js" */

const WIDE = 4000; // units of the whole clock; the browser stretches them
const LANE = 20;
const LEAST = 0.3; // of a lane's height: a block of one row

/** @param {number} side of the batches @param {(request: number) => void} onChoose */
export function lanesOfRequests(side, onChoose) {
  const el = svg("svg.hx-load-lanes", { role: "img", preserveAspectRatio: "none" });
  el.addEventListener("click", ({ clientY }) => {
    const { top, height } = el.getBoundingClientRect();
    const load = Number(el.dataset.load);
    if (load) onChoose(Math.min(load - 1, Math.max(0, Math.floor(((clientY - top) / height) * load))));
  });
  const chosen = svg("rect.hx-load-chosen", { x: 0, width: WIDE, height: LANE }, el);
  const first = svg("rect.hx-load-first", { y: 0, width: 6 }, el);
  const blocks = svg("g", {}, el);
  const veil = svg("rect.hx-load-veil", { y: 0 }, el);
  const line = svg("rect.hx-load-now", { y: 0, width: 8 }, el);
  let end = 1;
  return {
    el,
    /** Draws anew. @param {Batches} batches @param {number} upto ns, at the right edge */
    draw(batches, upto) {
      const { requests, levels, began, firstEnd } = batches.sides[side];
      const [load, most] = [requests.length, batches.rows];
      end = Math.max(1, upto);
      const x = (/** @type {number} */ t) => (WIDE * Math.max(0, t - began)) / end;
      el.dataset.load = String(load);
      set(el, { viewBox: `0 0 ${WIDE} ${load * LANE}` });
      for (const part of [veil, line, first]) set(part, { height: load * LANE });
      set(first, { x: (WIDE * firstEnd) / end - 3 });
      while (blocks.childElementCount < levels.length) svg("path.hx-load-block", {}, blocks);
      [...blocks.children].forEach((path, level) => {
        /** @type {SVGElement} */ (path).style.setProperty("--hue", levels[level]?.hue ?? "");
        const d = requests.flatMap(({ cells }, i) =>
          cells
            .filter((cell) => cell.level === level)
            .map(({ t0, t1, rows }) => {
              const high = (LANE - 3) * (LEAST + (1 - LEAST) * (rows > 1 ? (rows - 1) / (most - 1) : 0));
              return box(x(t0), x(t1), ((i + 1) * LANE - 1 - high).toFixed(1), Number(high.toFixed(1)), 2);
            }),
        );
        set(path, { d: d.join("") });
      });
    },
    /** @param {number} cursor ns @param {number} request that is chosen */
    update(cursor, request) {
      const at = Math.min(WIDE, (WIDE * cursor) / end);
      set(veil, { x: at, width: WIDE - at });
      set(line, { x: Math.min(WIDE - 8, at) });
      set(chosen, { y: request * LANE });
    },
  };
}
