/** The picture of the answer: speed-ups of the best plans with one level fewer and with it, over what its pass costs. Both
 *  axes are the picture's alone; the table beside it has the same points. */

import { h, say } from "../../../shared/kit/dom.js";
import { svg } from "../../../shared/kit/svg.js";
import { nameOfStack, stackNames } from "../../../shared/levels/stack-names.js";
import { ANOTHER } from "../../../../text/en/another.js";

/** @import {CostPoint, Curve} from "./answers.js" */

const TICKS = [0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 12]; // speed-ups: equal ratios are equally far apart
const PAD = { left: 44, right: 16, top: 16, bottom: 44 };
const ROOM = 1.12; // beyond the largest and the smallest speed-up

/** Where costs and speed-ups stand in a picture of so many px. @param {CostPoint[]} points @param {number} wide @param {number} high */
export function scales(points, wide, high) {
  const gains = points.flatMap((point) => [point.fewer.speedup, point.more.speedup]);
  const [low, top] = [Math.min(1, ...gains) / ROOM, Math.max(1, ...gains) * ROOM].map(Math.log);
  const last = Math.max(...points.map(({ share }) => share));
  return {
    x: (/** @type {number} */ share) => PAD.left + (share / last) * (wide - PAD.left - PAD.right),
    y: (/** @type {number} */ gain) =>
      high - PAD.bottom - ((Math.log(gain) - low) / (top - low)) * (high - PAD.top - PAD.bottom),
    ticks: TICKS.filter((gain) => Math.log(gain) > low && Math.log(gain) < top),
    last,
  };
}

/** The point of a cost. @param {CostPoint[]} points @param {number} share */
export const nearest = (points, share) =>
  points.reduce((a, b) => (Math.abs(b.share - share) < Math.abs(a.share - share) ? b : a));

/** @param {Element} root an svg element, emptied first
 *  @param {Curve} curve @param {{share: number, own: CostPoint, names: {fewer: string, more: string, level: string}}} at
 *    share: where the slider stands; own: the profile's own point, at its own agreement
 *  @param {number} wide @param {number} high */
export function drawCurve(root, curve, { share, own, names }, wide, high) {
  const { points } = curve;
  const { x, y, ticks, last } = scales([...points, own], wide, high);
  root.replaceChildren();
  root.setAttribute("viewBox", `0 0 ${wide} ${high}`);
  const floor = high - PAD.bottom;
  const text = (/** @type {number} */ at, /** @type {number} */ to, /** @type {string} */ said, more = {}) => {
    svg("text", { x: at, y: to, ...more }, root).textContent = said;
  };
  for (const gain of ticks) {
    svg(
      "path",
      { d: `M${PAD.left} ${y(gain)}H${wide - PAD.right}`, class: gain === 1 ? "hx-al-one" : "hx-al-grid" },
      root,
    );
    text(PAD.left - 6, y(gain) + 4, ANOTHER.times(gain), { "text-anchor": "end" });
  }
  for (let cost = 0; cost <= last + 1e-9; cost += 0.25)
    text(x(cost), floor + 18, ANOTHER.percent(cost), { "text-anchor": "middle" });
  text((PAD.left + wide - PAD.right) / 2, high - 6, ANOTHER.axis(names.level), { "text-anchor": "middle" });
  const line = (/** @type {"fewer"|"more"} */ which) =>
    points
      .map((point, i) => `${i ? "L" : "M"}${x(point.share).toFixed(1)} ${y(point[which].speedup).toFixed(1)}`)
      .join("");
  for (const crossing of curve.crossings) {
    svg("path.hx-al-crossing", { d: `M${x(crossing)} ${PAD.top}V${floor}` }, root);
    text(x(crossing) + 5, PAD.top + 10, ANOTHER.crossing(crossing));
  }
  svg("path.hx-al-line.hx-al-fewer", { d: line("fewer") }, root);
  svg("path.hx-al-line.hx-al-more", { d: line("more") }, root);
  svg("circle.hx-al-own", { cx: x(own.share), cy: y(own.more.speedup), r: 9 }, root);
  const point = nearest(points, share);
  svg("path.hx-al-between", { d: `M${x(point.share)} ${y(point.fewer.speedup)}V${y(point.more.speedup)}` }, root);
  svg("circle.hx-al-dot.hx-al-fewer", { cx: x(point.share), cy: y(point.fewer.speedup), r: 5 }, root);
  svg("circle.hx-al-dot.hx-al-more", { cx: x(point.share), cy: y(point.more.speedup), r: 6 }, root);
}

/** The same points as a table. @param {Curve} curve @param {{fewer: string, more: string}} names */
export function curveTable({ points }, names) {
  const called = stackNames(points.flatMap(({ fewer, more }) => [fewer.stack, more.stack]));
  const cells = (/** @type {CostPoint} */ { share, fewer, more }) => [
    ANOTHER.percent(share),
    fewer.speedup.toFixed(2),
    nameOfStack(fewer.stack, called),
    more.speedup.toFixed(2),
    nameOfStack(more.stack, called),
  ];
  return h("table", [
    h("caption.hx-sr", ANOTHER.table),
    h("thead", [h("tr", [ANOTHER.head(names).map((text) => h("th", { scope: "col", text }))])]),
    h("tbody", [
      points.map((point) =>
        h("tr", [cells(point).map((cell, i) => h(i ? "td" : "th", { scope: i ? null : "row" }, cell))]),
      ),
    ]),
  ]);
}

// A slider over a list of numbers.

/** @param {(place: number) => void} onTurn */
export function stopsSlider(onTurn) {
  const label = h("span");
  const out = h("output.hx-plan-value");
  const input = /** @type {HTMLInputElement} */ (
    h("input", { type: "range", min: "0", max: "1", step: "1", oninput: () => onTurn(Number(input.value)) })
  );
  const el = h("div.hx-plan-slider", [h("div.hx-plan-slider-head", [label, out]), input]);
  return {
    el,
    /** @param {string} text */
    name(text) {
      say(label, text);
      input.setAttribute("aria-label", text);
    },
    /** @param {readonly number[]} stops @param {number} value @param {(value: number) => string} words */
    stand(stops, value, words) {
      const place = nearestStop(stops, value);
      input.max = String(stops.length - 1);
      input.value = String(place);
      input.setAttribute("aria-valuetext", words(stops[place]));
      say(out, words(stops[place]));
    },
  };
}

/** The place of the nearest of them. @param {readonly number[]} stops @param {number} value */
export const nearestStop = (stops, value) =>
  stops.reduce((a, x, i) => (Math.abs(x - value) < Math.abs(stops[a] - value) ? i : a), 0);
