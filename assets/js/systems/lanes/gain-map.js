/** The map: what a drafted token costs against how often it is accepted, shaded with what a second machine gains. */

import { svg } from "../../shared/kit/svg.js";
import { bandOf, GAINING, labelled, stretches } from "./map-reading.js";
import { SECOND } from "./words.js";

const PAD = { left: 52, right: 16, top: 10, bottom: 46 };
const TICK = 0.2; // of a pass
const UPRIGHT = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];

/** @typedef {import("./map-reading.js").GainMap} GainMap @typedef {import("./map-reading.js").Drafter} Drafter */

/** Where shares and agreements stand in a picture of so many px. A cell lies around its own numbers.
 *  @param {GainMap} map @param {number} wide @param {number} high */
export function mapScales({ shares, agreements }, wide, high) {
  const [across, up] = [shares[1] - shares[0], agreements[1] - agreements[0]];
  const [left, right] = [shares[0] - across / 2, shares[shares.length - 1] + across / 2];
  const [low, top] = [agreements[0] - up / 2, agreements[agreements.length - 1] + up / 2];
  const within = (/** @type {number} */ x, /** @type {number} */ a, /** @type {number} */ b) =>
    Math.min(b, Math.max(a, x));
  const [w, h] = [wide - PAD.left - PAD.right, high - PAD.top - PAD.bottom];
  return {
    x: (/** @type {number} */ share) => PAD.left + ((within(share, left, right) - left) / (right - left)) * w,
    y: (/** @type {number} */ a) => high - PAD.bottom - ((within(a, low, top) - low) / (top - low)) * h,
    /** The numbers of a place. @param {number} px @param {number} py */
    at: (px, py) => ({
      share: within(left + ((px - PAD.left) / w) * (right - left), left, right),
      agreement: within(low + ((high - PAD.bottom - py) / h) * (top - low), low, top),
    }),
    floor: high - PAD.bottom,
    cell: { w: (across / (right - left)) * w, h: (up / (top - low)) * h },
  };
}

/**
 * @param {Element} root an svg element, emptied first @param {GainMap} map @param {Drafter[]} drafters
 * @param {{share: number, agreement: number}} at the cross @param {number} wide @param {number} high
 */
export function drawMap(root, map, drafters, at, wide, high) {
  const { x, y, floor, cell } = mapScales(map, wide, high);
  root.replaceChildren();
  root.setAttribute("viewBox", `0 0 ${wide} ${high}`);
  const text = (/** @type {number} */ to, /** @type {number} */ on, /** @type {string} */ said, more = {}) => {
    svg("text", { x: to, y: on, ...more }, root).textContent = said;
  };
  map.gains.forEach((row, i) => {
    const top = y(map.agreements[i]) - cell.h / 2;
    for (const [band, first, count] of stretches(row)) {
      const box = { x: x(map.shares[first]) - cell.w / 2, y: top, width: count * cell.w, height: cell.h };
      svg(
        "rect",
        { ...box, class: "hx-sm-band", "data-band": band, "data-row": i, "data-first": first, "data-count": count },
        root,
      );
    }
  });
  svg("path", { d: edgeOfGain(map, x, y, cell), class: "hx-sm-edge" }, root);
  for (let share = 0; share <= 1 + 1e-9; share += TICK)
    text(x(share), floor + 18, SECOND.percent(share), { "text-anchor": "middle" });
  for (const a of UPRIGHT) text(PAD.left - 8, y(a) + 4, SECOND.percent(a), { "text-anchor": "end" });
  text((PAD.left + wide - PAD.right) / 2, high - 6, SECOND.across, { "text-anchor": "middle" });
  const [cx, cy] = [x(at.share), y(at.agreement)];
  svg("path", { d: `M${cx} ${PAD.top}V${floor}M${PAD.left} ${cy}H${wide - PAD.right}`, class: "hx-sm-cross" }, root);
  const points = drafters.map((of) => ({ x: x(of.share), y: y(of.agreement), of }));
  for (const point of points)
    svg(
      "circle",
      { cx: point.x, cy: point.y, r: 6, class: "hx-sm-point", "data-pays": String(point.of.gain > 1) },
      root,
    );
  const named = points.map((point) => ({ ...point, text: point.of.name }));
  for (const { x: to, y: on, text: said, before } of labelled(named, wide, PAD.left))
    text(to, on, said, { class: "hx-sm-name", "text-anchor": before ? "end" : "start" });
  svg("circle", { cx, cy, r: 10, class: "hx-sm-at" }, root);
}

/** The line around what gains: the edges between cells of either kind. @param {GainMap} map
 *  @param {(share: number) => number} x @param {(a: number) => number} y @param {{w: number, h: number}} cell */
function edgeOfGain({ shares, agreements, gains }, x, y, cell) {
  const pays = (/** @type {number} */ gain) => bandOf(gain) >= GAINING;
  /** @type {string[]} */ const parts = [];
  gains.forEach((row, i) =>
    row.forEach((gain, j) => {
      const [left, top] = [x(shares[j]) - cell.w / 2, y(agreements[i]) - cell.h / 2];
      const inner = j + 1 < row.length && pays(gain) !== pays(row[j + 1]);
      if (inner) parts.push(`M${(left + cell.w).toFixed(1)} ${top.toFixed(1)}v${cell.h.toFixed(1)}`);
      const above = i + 1 < gains.length && pays(gain) !== pays(gains[i + 1][j]);
      if (above) parts.push(`M${left.toFixed(1)} ${top.toFixed(1)}h${cell.w.toFixed(1)}`);
    }),
  );
  return parts.join("");
}
