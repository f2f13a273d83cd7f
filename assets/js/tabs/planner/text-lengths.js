/** How long the text is: from which length on a view of the cache pays, in a sentence, a small picture and its table.
 *  Asked for when it is opened; left out where a preset has no profiles by length. */

import { h, say } from "../../shared/kit/dom.js";
import { svg } from "../../shared/kit/svg.js";
import { nameOfStack, stackName, stackNames } from "../../shared/levels/stack-names.js";
import { rounded } from "../../../text/numbers.js";
import { LENGTHS } from "../../../text/en/lengths.js";
import { PLANNER } from "../../../text/en/planner.js";
import { steps } from "./doctor/gain-curve.js";
import { hasLengths, placeOf } from "./profile/profile.js";

/** @import {Place} from "./profile/profile.js" */

const PHONE = 700; // px of the page, as in planner.css
const HIGH = { phone: 240, screen: 280 };

/** @param {string} url of all tables */
export function textLengths(url) {
  /** @type {Promise<{tables: Table[]}>|null} */ let coming = null;
  /** @type {Table|null} */ let shown = null;
  let wanted = ""; // the preset and device whose table is asked for
  const answer = h("p.hx-sm-answer", { role: "status", "aria-live": "polite", text: LENGTHS.asking });
  const note = h("p.hx-sm-note");
  const upright = h("p.hx-sm-upright", { text: LENGTHS.upright, "aria-hidden": "true" });
  const picture = svg("svg.hx-al-curve.hx-tl-plot", { role: "img" });
  const rows = h("div.hx-figure-scroll", { tabindex: "0", role: "group", "aria-label": LENGTHS.table });
  const body = h("div", { hidden: true }, [note, upright, picture, h("div.hx-figure-data.hx-tl-data", rows)]);
  const el = h("section.hx-panel.hx-tl", { "aria-label": LENGTHS.label }, [answer, body]);
  new ResizeObserver(() => draw()).observe(el);

  const opened = () => Boolean(el.closest("details")?.open);

  function draw() {
    if (!shown || !el.clientWidth || !shown.lines.length) return;
    drawLengths(picture, shown, Math.max(300, picture.clientWidth), innerWidth < PHONE ? HIGH.phone : HIGH.screen);
  }

  async function ask() {
    if (!wanted || !opened()) return;
    const asked = wanted;
    coming ??= fetch(url).then((reply) => reply.json());
    try {
      const { tables = [] } = await coming;
      if (asked !== wanted) return;
      show(tables.find((one) => placeOf(one) === asked));
    } catch {
      coming = null; // it is asked again when it is opened again
      say(answer, PLANNER.unreachable);
    }
  }

  /** @param {Table|undefined} table */
  function show(table) {
    shown = table && !table.error ? table : null;
    body.hidden = !shown;
    if (!shown) return say(answer, table?.error ?? PLANNER.unreachable);
    say(answer, headline(shown));
    say(note, LENGTHS.note(shown.about.machine ?? "", (shown.about.recorded ?? "").slice(0, 10)));
    picture.setAttribute("aria-label", `${LENGTHS.plot}. ${atTheEnd(shown)}`);
    rows.replaceChildren(lengthTable(shown));
    draw();
    el.dataset.ready = "true";
  }

  return {
    el,
    /** It was opened. */
    wake() {
      ask();
      draw();
    },
    /** Whose lengths are shown, if there are any. @param {Place} place @param {[string, string][]} known */
    of(place, known) {
      wanted = hasLengths(place, known) ? placeOf(place) : "";
      ask();
    },
  };
}

/** From where on the best stack with a view is ahead of the best without, in a sentence. @param {Table} table */
export function headline({ lines, rows, ahead, overtakes }) {
  const last = rows[rows.length - 1];
  if (!lines.length || lines.every(({ points }) => points.every(([, gain]) => gain <= 1))) return LENGTHS.nothing;
  if (lines.length < 2) return LENGTHS.alone(stackName(last.best[0].stack), last.best[0].speedup, last.length);
  const [view, other] = last.best.map(({ stack }) => stack);
  const names = stackNames([view, other]);
  const called = /** @type {const} */ ([names.get(view) ?? "", names.get(other) ?? ""]);
  if (!overtakes) return LENGTHS.never(last.length, ...called);
  if (overtakes > last.length) return LENGTHS.beyond(overtakes, ...called);
  const gains = /** @type {const} */ ([last.best[0].speedup, last.best[1].speedup]);
  const open = ahead.map(
    ([from, to]) => /** @type {const} */ ([from <= rows[0].length ? null : from, to >= last.length ? null : to]),
  );
  const start = open.some(([from, to]) => from === null && to === null) ? LENGTHS.always : LENGTHS.pays(open);
  return `${start} ${LENGTHS.there(last.length, gains, called)}`;
}

/** @param {Table} table */
function atTheEnd({ lines }) {
  return lines
    .map((line) => {
      const [length, gain] = line.points[line.points.length - 1];
      return LENGTHS.point(lineName(line), gain, length);
    })
    .join("; ");
}

/** @param {Table} table */
function lengthTable({ levels, rows, lines }) {
  const head = [LENGTHS.length, ...levels.map(({ name }) => LENGTHS.ms(name)), ...lines.map(lineName)];
  const called = stackNames(rows.flatMap(({ best }) => best.map(({ stack }) => stack)));
  const row = (/** @type {Row} */ one) =>
    h("tr", [
      h("th", { scope: "row", text: LENGTHS.count(one.length) }),
      one.ms.map((ms) => h("td", rounded(ms))),
      one.best.map(({ stack, speedup }) =>
        h("td.hx-tl-best", { "data-length": one.length }, [
          h("b", LENGTHS.times(speedup)),
          " ",
          nameOfStack(stack, called),
        ]),
      ),
    ]);
  return h("table", [
    h("caption.hx-sr", LENGTHS.table),
    h("thead", [h("tr", [head.map((text) => h("th", { scope: "col", text }))])]),
    h("tbody", rows.map(row)),
  ]);
}

// The picture of stacks by the length of the text: a line of speed-ups for each, a dot where a length was measured.
// The table below it has the dots' numbers.

const PAD = { left: 52, right: 24, top: 24, bottom: 44 };
const LABEL = 12; // px between a line's end and its name
const BELOW = 10; // px more where it stands below: of the letters

/** @typedef {{view: boolean, points: [number, number][]}} Line
 *  @typedef {{length: number, ms: number[], best: {stack: string, speedup: number}[]}} Row best: of each line
 *  @typedef {{preset: string, device: string, error?: string, about: {machine?: string, recorded?: string},
 *    levels: {name: string, spec: string, kind: string, target: boolean}[], rows: Row[], lines: Line[], ahead: [number, number][], overtakes: number|null}} Table ahead: where the line with
 *     a view is the upper one */

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
const lineName = ({ view }) => (view ? LENGTHS.withView : LENGTHS.without);

/** @param {Element} root an svg element, emptied first
 *  @param {Table} table @param {number} wide @param {number} high */
function drawLengths(root, { rows, lines, ahead }, wide, high) {
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
    svg("path.hx-al-crossing", { d: `M${x(at)} ${PAD.top}V${floor}` }, root);
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
