/** Pictures of many requests at once: what a pass costs by all its rows, what a stack gains, which levels are worth it, and
 *  how soon rows are dear on other machines. */

import { h } from "../../../shared/kit/dom.js";
import { loadStyles } from "../../../shared/kit/styles.js";
import { svg } from "../../../shared/kit/svg.js";
import { stylesOf } from "../../../shared/levels/badge.js";
import { stackName } from "../../../shared/levels/stack-names.js";
import { drawLoadMap, loadLegend, loadTable, readDrops, readLoad } from "../../../shared/plots/load-map.js";
import { millis, ratio } from "../../../../text/numbers.js";
import { REQUESTS } from "../../../../text/en/requests.js";
import { REQUESTS as FIGURES, passOf } from "../figures/requests-figures.js";
import { bar } from "./charts.js";
import { frame, sheet, slider } from "./frame.js";

/** @import {ManyRequests, Machine} from "../figures/run-figures.js" @import {Picture, PictureContext} from "./frame.js" */

const EDGE = { left: 46, right: 20, top: 18, bottom: 46 };
const FIRST = 8; // requests that are shown at first
const MOST_TIMES = 9; // of a pass of one row, that the picture of machines has room for
const MOST_ROWS = 512;

/** The figures of many requests; null where none are shipped. @param {PictureContext} ctx @returns {ManyRequests|null} */
const known = ({ sources }) => (sources().requests?.loads ? /** @type {ManyRequests} */ (sources().requests) : null);

/** @param {string} kind @param {string} label @returns {Picture} */
const absent = (kind, label) => frame(kind, label, [h("p.hx-sketch-waits", REQUESTS.absent)]);

/** Over the loads, by their places. @param {ManyRequests} of @param {number} at @param {boolean} locked @param {(at: number) => void} turn */
const requestsSlider = (of, at, locked, turn) =>
  slider({
    label: REQUESTS.slider.label,
    text: (i) => REQUESTS.slider.text(of.loads[i]),
    ...{ min: 0, max: of.loads.length - 1, step: 1, value: at, locked, onInput: turn },
  });

/** Bars of a pass of the target with 1, 2, 4, ... rows of each request; while a question is open, of one request.
 *  @param {PictureContext} ctx @returns {Picture} */
export function requestsPicture(ctx) {
  const of = known(ctx);
  if (!of) return absent("requests", REQUESTS.rows);
  const hue = ctx.model.levels.at(-1)?.hue ?? "";
  let at = ctx.open ? 0 : Math.max(0, of.loads.indexOf(FIRST));
  const bars = h("div.hx-chart-bars");
  const turn = (/** @type {number} */ to) => {
    at = to;
    draw();
  };
  const picture = frame("requests", REQUESTS.rows, [bars], [requestsSlider(of, at, ctx.open, turn)]);
  function draw() {
    if (!of) return;
    const load = of.loads[at];
    const ms = of.pass_ms[at];
    const times = (/** @type {number} */ i) => ratio(ms[i] / ms[0]);
    bars.replaceChildren(
      ...of.rows.map((rows, i) =>
        bar(
          REQUESTS.bar(load * rows),
          ms[i] / Math.max(...ms),
          REQUESTS.took(millis(ms[i]), times(i)),
          hue,
          REQUESTS.each(load, rows),
        ),
      ),
    );
    const four = passOf(of, load, 4) ?? ms[ms.length - 1];
    picture.tell(REQUESTS.rowsSaid(load, millis(ms[0]), ratio(four / ms[0]), of.about.machine));
  }
  draw();
  return picture;
}

/** What a stack gains at each load, with its intervals; while a question is open, with one request alone.
 *  @param {PictureContext} ctx @returns {Picture} */
export function underLoadPicture(ctx) {
  const of = known(ctx);
  if (!of?.gains.length) return absent("under_load", REQUESTS.gains);
  const shown = ctx.open ? of.gains.slice(0, 1) : of.gains;
  const drawn = sheet((el, width, height) => drawUnderLoad(el, width, height, of, shown.length));
  const list = shown.map(({ load }) => h("li", REQUESTS.gain(load, String(FIGURES.said[2](of, String(load))))));
  const picture = frame("under_load", REQUESTS.gains, [drawn.el, h("ul.hx-sr", list)]);
  picture.tell(REQUESTS.gainsSaid(stackName(of.gains[0].stack), of.measured, of.about.machine));
  return { el: picture.el, end: drawn.end };
}

/** @param {SVGElement} el @param {number} width @param {number} height @param {ManyRequests} of @param {number} shown */
function drawUnderLoad(el, width, height, { gains }, shown) {
  const most = Math.ceil(2 * Math.max(...gains.map(({ interval }) => interval[1]), 1.2)) / 2;
  const column = (width - EDGE.left - EDGE.right) / gains.length;
  const x = (/** @type {number} */ i) => EDGE.left + (i + 0.5) * column;
  const y = (/** @type {number} */ v) => height - EDGE.bottom - (v / most) * (height - EDGE.top - EDGE.bottom);
  const text = write(el);
  for (let v = 0; v <= most; v += 0.5) {
    svg(
      "path",
      { d: `M${EDGE.left} ${y(v)}H${width - EDGE.right}`, class: v === 1 ? "hx-line-one" : "hx-line-grid" },
      el,
    );
    text(String(v), { x: EDGE.left - 8, y: y(v) + 4, "text-anchor": "end" });
  }
  text(REQUESTS.plain, { x: width - EDGE.right, y: y(1) - 6, "text-anchor": "end" });
  gains.forEach(({ load, speed_up, interval: [low, high] }, i) => {
    text(String(load), { x: x(i), y: height - EDGE.bottom + 18, "text-anchor": "middle" });
    if (i >= shown) return text("?", { x: x(i), y: y(1) - 24, "text-anchor": "middle", class: "hx-line-word" });
    svg("path.hx-req-whisker", { d: `M${x(i)} ${y(low)}V${y(high)}` }, el);
    svg("circle.hx-req-dot", { cx: x(i), cy: y(speed_up), r: 7 }, el);
    return text(ratio(speed_up), { x: x(i) + 12, y: y(speed_up) + 5, class: "hx-line-word" });
  });
  text(REQUESTS.axis, { x: (EDGE.left + width - EDGE.right) / 2, y: height - 6, "text-anchor": "middle" });
}

/** The best stack at each load, drawn as on the Planner. @param {PictureContext} ctx @returns {Picture} */
export function loadMapPicture(ctx) {
  const of = known(ctx);
  if (!of) return absent("load_map", REQUESTS.map);
  void loadStyles("load");
  const { map } = of;
  const looks = stylesOf(map.levels);
  let at = Math.max(0, of.loads.indexOf(FIRST));
  const drawing = svg("svg.hx-lm", { "aria-hidden": "true" });
  const room = h("div.hx-sketch-map", [drawing]);
  const turn = (/** @type {number} */ to) => {
    at = to;
    draw();
    tell();
  };
  const draw = () =>
    room.clientWidth &&
    drawing.setAttribute("height", String(drawLoadMap(drawing, map, looks, at, Math.max(280, room.clientWidth))));
  const table = h("div.hx-sr", [loadTable(map, looks)]);
  const parts = [room, loadLegend(map), table];
  const picture = frame("load_map", REQUESTS.map, parts, [requestsSlider(of, at, false, turn)]);
  const tell = () =>
    picture.tell(REQUESTS.mapSaid([...readLoad(map, looks, at), readDrops(map, looks)], of.about.machine));
  tell();
  const resizing = new ResizeObserver(draw);
  resizing.observe(room);
  return { el: picture.el, end: () => resizing.disconnect() };
}

/** How many times as long a pass takes by its rows: measured here, computed for others. @param {PictureContext} ctx @returns {Picture} */
export function rowsByMachinePicture(ctx) {
  const of = known(ctx);
  if (!of) return absent("row_costs", REQUESTS.machines);
  const called = (/** @type {Machine} */ one) => (one.computed ? REQUESTS.computed(one.name) : REQUESTS.here);
  const drawn = sheet((el, width, height) => drawMachines(el, width, height, of.machines));
  const key = h("p.hx-sketch-key", [
    of.machines.map((one, i) => h("span.hx-req-key", { "data-machine": i, text: called(one) })),
  ]);
  const picture = frame("row_costs", REQUESTS.machines, [drawn.el, key]);
  picture.tell(REQUESTS.machinesSaid(of.machines.map((one) => [called(one), one.twice])));
  return { el: picture.el, end: drawn.end };
}

/** @param {SVGElement} el @param {number} width @param {number} height @param {Machine[]} machines */
function drawMachines(el, width, height, machines) {
  const x = (/** @type {number} */ rows) =>
    EDGE.left + (Math.log2(rows) / Math.log2(MOST_ROWS)) * (width - EDGE.left - EDGE.right);
  const y = (/** @type {number} */ v) => height - EDGE.bottom - (v / MOST_TIMES) * (height - EDGE.top - EDGE.bottom);
  const text = write(el);
  for (let v = 0; v < MOST_TIMES; v += 2) {
    svg(
      "path",
      { d: `M${EDGE.left} ${y(v)}H${width - EDGE.right}`, class: v === 2 ? "hx-line-one" : "hx-line-grid" },
      el,
    );
    text(`${v}\u00d7`, { x: EDGE.left - 8, y: y(v) + 4, "text-anchor": "end" });
  }
  text(REQUESTS.twice, { x: EDGE.left + 4, y: y(2) - 6 });
  for (let rows = 1; rows <= MOST_ROWS; rows *= width > 480 ? 2 : 4)
    text(String(rows), { x: x(rows), y: height - EDGE.bottom + 18, "text-anchor": "middle" });
  text(REQUESTS.rowsAxis, { x: (EDGE.left + width - EDGE.right) / 2, y: height - 6, "text-anchor": "middle" });
  machines.forEach(({ rows, times }, i) => {
    const points = within(rows, times).map(([n, v]) => `${x(n).toFixed(1)} ${y(v).toFixed(1)}`);
    svg("path.hx-req-line", { d: `M${points.join("L")}`, "data-machine": i }, el);
  });
}

/** The points of a curve that the picture has room for, and where it leaves the picture.
 *  @param {number[]} rows @param {number[]} times @returns {[number, number][]} */
export function within(rows, times) {
  const points = rows.map((n, i) => /** @type {[number, number]} */ ([n, times[i]])).filter(([n]) => n <= MOST_ROWS);
  const out = points.findIndex(([, v]) => v > MOST_TIMES);
  if (out < 1) return points;
  const [[n, v], [more, w]] = [points[out - 1], points[out]];
  const part = (MOST_TIMES - v) / (w - v);
  return [...points.slice(0, out), [n * (more / n) ** part, MOST_TIMES]];
}

const write =
  (/** @type {SVGElement} */ el) => (/** @type {string} */ said, /** @type {Record<string, string|number>} */ at) => {
    svg("text", at, el).textContent = said;
  };
