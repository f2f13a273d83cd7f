/** The map of levels by load: which levels the best stack has with 1, 2, 4, ... requests at once, with their block lengths,
 *  where each drops out, and how many times plain decoding it reaches. The table has the same numbers. */

import { LOAD } from "../../../text/en/load.js";
import { fixed, rounded } from "../../../text/numbers.js";
import { h } from "../kit/dom.js";
import { svg } from "../kit/svg.js";
import { nameOfStack, stackNames } from "../levels/stack-names.js";

/** @import {Look} from "../levels/kinds.js" */

/** As app/tabs/planner/load_map.py gives it.
 *  @typedef {{load: number, levels: string[], blocks: number[], tree: number[], stack: string, runs: boolean, speedup: number,
 *    rate: number, plain: number, left: string[], computed: string[]}} LoadRow
 *  @typedef {{stack: string, load: number, sum: number, speed_up: number, interval: [number, number], predicted_sum: number|null, predicted_speed_up: number|null}} Measured
 *  @typedef {{machine: string, recorded: string}} Where
 *  @typedef {{about: Where & {assumed: boolean}, levels: {name: string, kind: string}[], rows: LoadRow[], passes: Where|null, table: string,
 *    measured: {about: Where, rows: Measured[]}|null}} LoadMap
 *  @typedef {Map<string, Look>} Looks of the levels, by name, such as `stylesOf(map.levels)`
 *  @typedef {(x: number, y: number, said: string, more?: Record<string, string>) => void} Write */

const [GAINS, ROW, FOOT, TOP, RIGHT, LINE] = [96, 36, 42, 26, 12, 16]; // px
const [LETTER, NARROW] = [7.2, 560]; // px: about what a letter of a name takes; a picture without names
const [LEAST, MOST] = [96, 210]; // px that names may take

/** The levels that are in a best stack, the target first; the others. @param {LoadMap} map */
export function usedLevels({ levels, rows }) {
  const used = new Set(rows.flatMap((row) => row.levels));
  const names = levels.map(({ name }) => name).toReversed();
  return { used: names.filter((name) => used.has(name)), unused: names.filter((name) => !used.has(name)) };
}

/** What a cell says: "" where the level is not in the best stack. @param {LoadRow} row @param {string} name */
export function cellOf({ levels, blocks, tree }, name) {
  const at = levels.indexOf(name);
  if (at < 0) return "";
  if (at === levels.length - 1) return levels.length === 1 ? LOAD.alone1 : LOAD.signs;
  return at === 0 && tree.length ? LOAD.tree(tree) : String(blocks[at]);
}

/** Stretches of loads with a level: first and last place of each. @param {LoadRow[]} rows @param {string} name @returns {[number, number][]} */
export function stretches(rows, name) {
  /** @type {[number, number][]} */ const found = [];
  rows.forEach((row, i) => {
    if (!row.levels.includes(name)) return;
    const last = found[found.length - 1];
    if (last?.[1] === i - 1) last[1] = i;
    else found.push([i, i]);
  });
  return found;
}

/** Where things stand in a picture so many px wide. @param {LoadMap} map @param {Looks} looks @param {number} wide */
export function mapPlaces(map, looks, wide) {
  const { used } = usedLevels(map);
  const longest = Math.max(...used.map((name) => (looks.get(name)?.name ?? name).length));
  const left = wide < NARROW ? 36 : Math.min(MOST, Math.max(LEAST, 48 + longest * LETTER));
  const column = (wide - left - RIGHT) / map.rows.length;
  const floor = TOP + GAINS + used.length * ROW;
  const said = LOAD.credit(map.about, map.passes);
  const credit = wide < NARROW ? said : [said.join("; ")];
  return {
    ...{ used, left, column, floor, credit, high: floor + FOOT + credit.length * LINE, named: wide >= NARROW },
    x: (/** @type {number} */ i) => left + (i + 0.5) * column,
    y: (/** @type {number} */ level) => TOP + GAINS + level * ROW,
    /** The place of the load at so many px. @param {number} px */
    at: (px) => Math.min(map.rows.length - 1, Math.max(0, Math.floor((px - left) / column))),
  };
}

/** @param {Element} root an svg element, emptied first @param {LoadMap} map @param {Looks} looks
 *  @param {number} at place of the load that is shown, or -1 @param {number} wide px @returns {number} px that it is high */
export function drawLoadMap(root, map, looks, at, wide) {
  const places = mapPlaces(map, looks, wide);
  const { used, left, column, floor, credit, high, named, x, y } = places;
  const { rows } = map;
  root.replaceChildren();
  root.setAttribute("viewBox", `0 0 ${wide} ${high}`);
  /** @type {Write} */
  const text = (a, b, said, more = {}) => {
    svg("text", { x: a, y: b, "text-anchor": "middle", ...more }, root).textContent = said;
  };
  if (at >= 0) {
    const now = { x: x(at) - column / 2, y: 2, width: column, height: floor + 20, rx: 6 };
    svg("rect.hx-lm-now", { ...now, "data-load": rows[at].load }, root);
  }
  drawGains(root, map, { x, column, left, right: wide - RIGHT, text });
  used.forEach((name, i) => {
    const [look, top] = [looks.get(name), y(i)];
    svg("path.hx-lm-rule", { d: `M${left} ${top + ROW - 0.5}H${wide - RIGHT}` }, root);
    svg("rect.hx-lm-tag", { x: 2, y: top + 8, width: 26, height: 20, rx: 4, style: hueOf(look) }, root);
    text(15, top + 22, look?.tag ?? "", { class: "hx-lm-letter" });
    if (named)
      text(36, top + 22, clipped(look?.name ?? name, left - 42), { "text-anchor": "start", class: "hx-lm-name" });
    for (const stretch of stretches(rows, name)) drawBar(root, rows, { name, look, top, stretch }, places, text);
    const gone = rows.findIndex((row) => row.left.includes(name));
    if (gone < 0) return;
    const edge = x(gone) - column / 2;
    svg("path.hx-lm-edge", { d: `M${edge} ${TOP + 14}V${floor}` }, root);
    const cross = {
      d: `M${edge - 5} ${top + 13}l10 10m0 -10l-10 10`,
      "data-level": name,
      "data-load": rows[gone].load,
    };
    svg("path.hx-lm-out", cross, root);
    if (named) text(edge + 12, top + 22, LOAD.out, { "text-anchor": "start" });
  });
  rows.forEach((row, i) => text(x(i), floor + 16, String(row.load), { class: i === at ? "hx-lm-at" : "" }));
  text((left + wide - RIGHT) / 2, floor + FOOT - 6, LOAD.axis);
  credit.forEach((line, i) =>
    text(2, floor + FOOT + (i + 1) * LINE - 4, clipped(line, wide), { "text-anchor": "start" }),
  );
  return high;
}

/** @param {Look|undefined} look */
const hueOf = (look) => `--hue: ${look?.hue ?? "var(--muted)"}`;

/** A stretch of loads with a level: a cell for each, with its block length; where the target is alone, that is said once.
 *  @param {Element} root @param {LoadRow[]} rows
 *  @param {{name: string, look: Look|undefined, top: number, stretch: [number, number]}} bar
 *  @param {{x: (i: number) => number, column: number}} places @param {Write} text */
function drawBar(root, rows, { name, look, top, stretch: [first, last] }, { x, column }, text) {
  const alone = /** @type {number[]} */ ([]);
  for (let i = first; i <= last; i++) {
    const [row, open, close] = [rows[i], i === first ? 4 : 0, i === last ? 4 : 0];
    const said = cellOf(row, name);
    const data = { "data-level": name, "data-load": row.load, "data-cell": said };
    const box = { x: x(i) - column / 2 + open, y: top + 5, width: column - open - close, height: ROW - 10 };
    const computed = { "data-computed": String(row.computed.includes(name)) };
    svg("rect.hx-lm-cell", { ...box, ...data, ...computed, style: hueOf(look) }, root);
    if (row.levels.length === 1) alone.push(x(i));
    else if (name !== row.levels[row.levels.length - 1])
      text(x(i), top + 22, row.tree.length && row.levels[0] === name ? LOAD.treeBrief : said, { class: "hx-lm-block" });
  }
  if (alone.length) text((alone[0] + alone[alone.length - 1]) / 2, top + 22, LOAD.alone1, { class: "hx-lm-block" });
}

/** The speed-ups above the map, and the line of plain decoding.
 *  @param {Element} root @param {LoadMap} map
 *  @param {{x: (i: number) => number, column: number, left: number, right: number, text: Write}} places */
function drawGains(root, map, { x, column, left, right, text }) {
  const { rows } = map;
  const fastest = fastestMeasured(map);
  const all = [1.2, 1, ...rows.map(({ speedup }) => speedup), ...fastest.flatMap(({ interval }) => interval)];
  const [least, most] = [Math.min(...all), Math.max(...all)];
  const y = (/** @type {number} */ gain) => TOP + GAINS - 14 - ((gain - least) / (most - least)) * (GAINS - 34);
  svg("path.hx-lm-one", { d: `M${left} ${y(1)}H${right}` }, root);
  text(left - 6, y(1) + 4, LOAD.one, { "text-anchor": "end" });
  text(left, 14, LOAD.gain, { "text-anchor": "start" });
  const line = rows.map((row, i) => `${i ? "L" : "M"}${x(i).toFixed(1)} ${y(row.speedup).toFixed(1)}`).join("");
  svg("path.hx-lm-line", { d: line }, root);
  for (const one of fastest) {
    const [low, high] = one.interval;
    const at = x(rows.findIndex(({ load }) => load === one.load)) + Math.min(18, column / 4); // beside the prediction
    const data = { "data-load": one.load, "data-gain": fixed(one.speed_up, 2) };
    svg("path.hx-lm-interval", { d: `M${at} ${y(low)}V${y(high)}` }, root);
    svg("circle.hx-lm-measured", { cx: at, cy: y(one.speed_up), r: 5, ...data }, root);
  }
  rows.forEach((row, i) => {
    svg(
      "circle.hx-lm-dot",
      { cx: x(i), cy: y(row.speedup), r: 4, "data-load": row.load, "data-gain": fixed(row.speedup, 2) },
      root,
    );
    text(x(i), y(row.speedup) - 9, fixed(row.speedup, 2), { class: "hx-lm-gain" });
  });
}

/** Of the stacks that were measured at a load of the map the fastest one, plain decoding apart. @param {LoadMap} map @returns {Measured[]} */
export function fastestMeasured({ rows, measured }) {
  return rows.flatMap(({ load }) => {
    const there = (measured?.rows ?? []).filter((one) => one.load === load && one.stack.includes(","));
    return there.length ? [there.reduce((a, b) => (b.speed_up > a.speed_up ? b : a))] : [];
  });
}

/** What was predicted beside what was measured: a row for each stack and load. @param {NonNullable<LoadMap["measured"]>} measured */
export function measuredTable({ rows }) {
  const called = stackNames(rows.map(({ stack }) => stack));
  const shown = (/** @type {number|null} */ x) => (x === null ? LOAD.none : rounded(x));
  const cells = (/** @type {Measured} */ one) => [
    nameOfStack(one.stack, called),
    String(one.load),
    shown(one.predicted_sum),
    rounded(one.sum),
    one.predicted_speed_up === null ? LOAD.none : fixed(one.predicted_speed_up, 2),
    `${fixed(one.speed_up, 2)} (${fixed(one.interval[0], 2)}\u2013${fixed(one.interval[1], 2)})`,
  ];
  return h("table.hx-lm-ran", [
    h("thead", [h("tr", [LOAD.measuredHead.map((text) => h("th", { scope: "col", text }))])]),
    h("tbody", [
      rows.map((one) => h("tr", [cells(one).map((cell, i) => h(i ? "td" : "th", { scope: i ? null : "row" }, cell))])),
    ]),
  ]);
}

/** @param {string} name @param {number} room px */
const clipped = (name, room) =>
  name.length * LETTER <= room ? name : `${name.slice(0, Math.max(1, Math.floor(room / LETTER) - 1))}\u2026`;

/** What the map says at one load, in a sentence and a line. @param {LoadMap} map @param {Looks} looks @param {number} at place of a load @returns {[string, string]} */
export function readLoad({ rows }, looks, at) {
  const row = rows[at];
  const [rate, plain] = [LOAD.rate(row.rate), LOAD.rate(row.plain)];
  if (row.levels.length === 1) return [LOAD.plain(row.load), LOAD.alone(rate)];
  const below = row.levels.slice(0, -1).map((name, i) => {
    const block = i === 0 && row.tree.length ? LOAD.tree(row.tree) : LOAD.block(row.blocks[i]);
    return /** @type {[string, string]} */ ([looks.get(name)?.name ?? name, block]);
  });
  return [LOAD.best(row.load, row.speedup), LOAD.below(below, rate, plain)];
}

/** Where levels drop out, in a sentence. @param {LoadMap} map @param {Looks} looks */
export function readDrops(map, looks) {
  const called = (/** @type {string} */ name) => looks.get(name)?.name ?? name;
  const drops = map.rows.flatMap((row) =>
    row.left.map((name) => /** @type {[string, number]} */ ([called(name), row.load])),
  );
  return LOAD.drops(drops, map.rows[map.rows.length - 1].load);
}

/** The levels that no best stack has, in a sentence; "" where there are none. @param {LoadMap} map @param {Looks} looks */
export function readUnused(map, looks) {
  const { unused } = usedLevels(map);
  return unused.length ? LOAD.unused(unused.map((name) => looks.get(name)?.name ?? name)) : "";
}

/** The same as a table: a row for each load. @param {LoadMap} map @param {Looks} looks */
export function loadTable(map, looks) {
  const { used } = usedLevels(map);
  const [load, ...figures] = LOAD.head;
  const called = (/** @type {string} */ name) => looks.get(name)?.name ?? name;
  const cell = (/** @type {LoadRow} */ row, /** @type {string} */ name) => {
    const said = cellOf(row, name) || LOAD.none;
    const mark = said !== LOAD.none && row.computed.includes(name) ? `${said} (${LOAD.computedMark})` : said;
    return h("td", { "data-level": name, text: mark });
  };
  return h("table.hx-lm-table", [
    h("caption.hx-sr", LOAD.table),
    h("thead", [h("tr", [[load, ...used.map(called), ...figures].map((text) => h("th", { scope: "col", text }))])]),
    h("tbody", [
      map.rows.map((row) =>
        h("tr", { "data-load": row.load }, [
          h("th", { scope: "row", text: String(row.load) }),
          used.map((name) => cell(row, name)),
          h("td", { "data-gain": "", text: fixed(row.speedup, 2) }),
          h("td", LOAD.rate(row.rate)),
          h("td", LOAD.rate(row.plain)),
          h("td", { "data-left": "", text: row.left.map(called).join(", ") || LOAD.none }),
        ]),
      ),
    ]),
  ]);
}

/** Whether a cell's costs are computed, or are not. @param {LoadMap} map @param {boolean} computed */
export const anyCell = ({ rows }, computed) =>
  rows.some((row) => row.levels.some((name) => row.computed.includes(name) === computed));

/** What the marks of the map are. @param {LoadMap} map */
export function loadLegend(map) {
  const { rows } = map;
  const there = {
    measured: anyCell(map, false),
    computed: anyCell(map, true),
    out: rows.some(({ left }) => left.length),
    ran: fastestMeasured(map).length > 0,
  };
  const marks = /** @type {(keyof typeof there)[]} */ (Object.keys(there)).filter((mark) => there[mark]);
  return h("p.hx-lm-legend", { "aria-hidden": "true" }, [
    marks.map((mark) => h("span.hx-lm-key", { "data-mark": mark, text: LOAD.legend[mark] })),
    h("span", LOAD.number),
  ]);
}
