/** The picture of stacks by the length of the text: a line of speed-ups for each, a dot where a length was measured. The
 *  table below it has the dots' numbers. */

import { svg } from "../../../shared/kit/svg.js";
import { LENGTHS } from "../../../../text/en/lengths.js";
import { steps } from "../doctor/gain-curve.js";

const PAD = { left: 52, right: 24, top: 24, bottom: 44 };
const LABEL = 12; // px between a line's end and its name
const BELOW = 10; // px more where it stands below: of the letters

/**
 * @typedef {{view: boolean, points: [number, number][]}} Line
 * @typedef {{length: number, ms: number[], best: {stack: string, speedup: number}[]}} Row best: of each line
 * @typedef {{preset: string, device: string, error?: string, about: {machine?: string, recorded?: string},
 *   levels: {name: string, spec: string, kind: string, target: boolean}[], rows: Row[], lines: Line[], ahead: [number, number][], overtakes: number|null}} Table ahead: where the line with
 *    a view is the upper one
 */

/** Where lengths and speed-ups stand in a picture of so many px. @param {Line[]} lines @param {number} wide @param {number} high */
export function lengthScales(lines, wide, high) {
  const points = lines.flatMap((line) => line.points);
  const lengths = points.map(([length]) => length);
  const gains = [1, ...points.map(([, gain]) => gain)];
  const [first, last] = [Math.min(...lengths), Math.max(...lengths)];
  const ticks = steps(Math.min(...gains), Math.max(...gains));
  const [low, top] = [ticks[0], ticks[ticks.length - 1]];
  const floor = high - PAD.bottom;
  return {
    x: (/** @type {number} */ length) =>
      PAD.left + ((length - first) / Math.max(1, last - first)) * (wide - PAD.left - PAD.right),
    y: (/** @type {number} */ gain) => floor - ((gain - low) / (top - low)) * (floor - PAD.top),
    ticks,
    floor,
    last,
  };
}

/** What a line is called. @param {Line} line */
export const lineName = ({ view }) => (view ? LENGTHS.withView : LENGTHS.without);

/**
 * @param {Element} root an svg element, emptied first
 * @param {Table} table @param {number} wide @param {number} high
 */
export function drawLengths(root, { rows, lines, ahead }, wide, high) {
  const { x, y, ticks, floor, last } = lengthScales(lines, wide, high);
  const text = (/** @type {number} */ at, /** @type {number} */ to, /** @type {string} */ said, more = {}) => {
    svg("text", { x: at, y: to, ...more }, root).textContent = said;
  };
  root.replaceChildren();
  root.setAttribute("viewBox", `0 0 ${wide} ${high}`);
  for (const tick of ticks) {
    const plain = tick === 1;
    svg("path", { d: `M${PAD.left} ${y(tick)}H${wide - PAD.right}`, class: plain ? "hx-al-one" : "hx-al-grid" }, root);
    text(PAD.left - 8, y(tick) + 4, LENGTHS.times(tick), { "text-anchor": "end" });
  }
  for (const { length } of rows)
    text(x(length), floor + 18, LENGTHS.count(length), { "text-anchor": length === last ? "end" : "middle" });
  text((PAD.left + wide - PAD.right) / 2, high - 6, LENGTHS.axis, { "text-anchor": "middle" });
  const mark = (/** @type {number} */ at, /** @type {string} */ said, /** @type {boolean} */ before) => {
    svg("path", { d: `M${x(at)} ${PAD.top}V${floor}`, class: "hx-al-crossing" }, root);
    text(x(at) + (before ? -5 : 5), PAD.top - 8, said, { "text-anchor": before ? "end" : "start" });
  };
  for (const [from, to] of ahead) {
    if (from > rows[0].length) mark(from, LENGTHS.crossing(from), x(from) > wide - 120);
    if (to < last) mark(to, LENGTHS.ends(to), true);
  }
  lines.forEach((line, place) => {
    const look = line.view ? "hx-al-more" : "hx-al-fewer";
    const d = line.points.map(([n, gain], i) => `${i ? "L" : "M"}${x(n).toFixed(1)} ${y(gain).toFixed(1)}`).join("");
    svg("path", { d, class: `hx-al-line ${look}` }, root);
    for (const row of rows) {
      const [gain, cx] = [row.best[place].speedup, x(row.length)];
      const dot = svg("circle", { cx, cy: y(gain), r: 5, class: `hx-al-dot ${look}` }, root);
      dot.setAttribute("data-length", String(row.length));
      dot.setAttribute("data-gain", LENGTHS.times(gain));
    }
  });
  const ends = lines.map((line) => y(line.points[line.points.length - 1][1]));
  lines.forEach((line, place) => {
    const above = lines.length < 2 || ends[place] <= ends[1 - place];
    text(wide - PAD.right, ends[place] + (above ? -LABEL : LABEL + BELOW), lineName(line), {
      "text-anchor": "end",
      class: "hx-tl-name",
    });
  });
}
