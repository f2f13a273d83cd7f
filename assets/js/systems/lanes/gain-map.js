/** The map: what a drafted token costs against how often it is accepted, shaded with what a second machine gains;
 *  its tables, and what it says of a place. */

import { svg } from "../../shared/kit/svg.js";
import { SECOND } from "./words.js";
import { h } from "../../shared/kit/dom.js";
import { nameOfStack, stackNames } from "../../shared/levels/stack-names.js";
import { fixed, rounded } from "../../../text/numbers.js";
import { nearestStop } from "../../tabs/planner/another/curve.js";

const PAD = { left: 52, right: 16, top: 10, bottom: 46 };
const TICK = 0.2; // of a pass
const UPRIGHT = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];

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

/** @param {Element} root an svg element, emptied first @param {GainMap} map @param {Drafter[]} drafters
 *  @param {{share: number, agreement: number}} at the cross @param {number} wide @param {number} high */
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
        "rect.hx-sm-band",
        { ...box, "data-band": band, "data-row": i, "data-first": first, "data-count": count },
        root,
      );
    }
  });
  svg("path.hx-sm-edge", { d: edgeOfGain(map, x, y, cell) }, root);
  for (let share = 0; share <= 1 + 1e-9; share += TICK)
    text(x(share), floor + 18, SECOND.percent(share), { "text-anchor": "middle" });
  for (const a of UPRIGHT) text(PAD.left - 8, y(a) + 4, SECOND.percent(a), { "text-anchor": "end" });
  text((PAD.left + wide - PAD.right) / 2, high - 6, SECOND.across, { "text-anchor": "middle" });
  const [cx, cy] = [x(at.share), y(at.agreement)];
  svg("path.hx-sm-cross", { d: `M${cx} ${PAD.top}V${floor}M${PAD.left} ${cy}H${wide - PAD.right}` }, root);
  const points = drafters.map((of) => ({ x: x(of.share), y: y(of.agreement), of }));
  for (const point of points)
    svg("circle.hx-sm-point", { cx: point.x, cy: point.y, r: 6, "data-pays": String(point.of.gain > 1) }, root);
  const named = points.map((point) => ({ ...point, text: point.of.name }));
  for (const { x: to, y: on, text: said, before } of labelled(named, wide, PAD.left))
    text(to, on, said, { class: "hx-sm-name", "text-anchor": before ? "end" : "start" });
  svg("circle.hx-sm-at", { cx, cy, r: 10 }, root);
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

// The map and its drafters as tables.

const EVERY = { share: 5, agreement: 4 }; // of the places of the map, one in so many

/** @param {Drafter[]} drafters @param {(place: number) => void} onShow one is to be shown on the map */
export function drafterTable(drafters, onShow) {
  const stacks = drafters.flatMap((one) => [one.apart.stack, together(one).stack]);
  const called = stackNames(stacks);
  const row = (/** @type {Drafter} */ one, /** @type {number} */ i) => {
    const two = together(one);
    const pays = paysAt(one.gain);
    const show = h("button.hx-quiet.hx-plan-small", {
      text: one.name,
      "aria-label": SECOND.show(one.name),
      onclick: () => onShow(i),
    });
    return h("tr", { "data-pays": pays }, [
      h("th", { scope: "row" }, show),
      h("td", SECOND.times(one.gain)),
      h("td", [SECOND.verdicts[pays], one.needs ? SECOND.pricedOnly : ""].filter(Boolean).join(", ")),
      h("td", SECOND.percent(one.share)),
      h("td", SECOND.percent(one.agreement)),
      h("td", [h("span", SECOND.ms(rounded(one.apart.ms))), " ", nameOfStack(one.apart.stack, called)]),
      h("td", [h("span", SECOND.ms(rounded(two.ms))), " ", nameOfStack(two.stack, called)]),
      h("td", two === one.pearl ? SECOND.lockStep : SECOND.free),
    ]);
  };
  return table(SECOND.drafters, SECOND.drafterHead, drafters.map(row));
}

/** Some of the map's gains: agreements downwards, shares to the right. @param {GainMap} map */
export function gainTable({ shares, agreements, gains }) {
  const across = shares.map((_, i) => i).filter((i) => i === 0 || (i + 1) % EVERY.share === 0);
  const down = agreements.map((_, i) => i).filter((i) => i % EVERY.agreement === 0);
  const row = (/** @type {number} */ i) =>
    h("tr", [
      h("th", { scope: "row", text: SECOND.percent(agreements[i]) }),
      across.map((j) =>
        h("td", { "data-band": bandOf(gains[i][j]), "data-row": i, "data-at": j, text: fixed(gains[i][j], 2) }),
      ),
    ]);
  const head = [SECOND.corner, ...across.map((j) => SECOND.percent(shares[j]))];
  return table(SECOND.map, head, down.toReversed().map(row));
}

/** @param {string} caption @param {string[]} head @param {HTMLElement[]} rows */
const table = (caption, head, rows) =>
  h("table", [
    h("caption.hx-sr", caption),
    h("thead", [h("tr", [head.map((text) => h("th", { scope: "col", text }))])]),
    h("tbody", rows),
  ]);

// What the map of overlapping says: of one place on it, and of the drafters that stand there.

const SAME = 0.005; // closer than half a percent, two are called equal
/** Edges of the bands of gain that are drawn apart: a second machine loses below the third, and gains from the fourth. */
export const EDGES = [0.8, 0.9, 1 - SAME, 1 + SAME, 1.1, 1.2, 1.3];
const [LINE, LETTER, BESIDE] = [15, 7, 11]; // px of a label: its height, about what a letter takes, and how far off it is
const MOST = 6; // lines that a label stands lower than its point

/** @typedef {{stack: string, runs: boolean, ms: number, speedup: number}} OnOne
 *  @typedef {OnOne & {tokens: number, verifying: number, drafting: number}} OnTwo
 *  @typedef {{name: string, share: number, agreement: number, gain: number, pays_between: [number, number]|null,
 *    apart: OnOne, pearl: OnTwo, ahead: OnTwo, needs: string}} Drafter
 *  @typedef {{shares: number[], agreements: number[], gains: number[][]}} GainMap
 *  @typedef {{clock: string, one: OnOne, two: OnTwo|null, gain: number, pays: boolean, drafters: Drafter[], map: GainMap,
 *    }} SecondAnswer hsd_core/systems/lanes/second_machine.py */

/** @param {number} gain */
export const bandOf = (gain) => EDGES.filter((edge) => gain >= edge).length;

/** The first band in which a second machine gains. */
export const GAINING = EDGES.indexOf(1 + SAME) + 1;

/** @param {number} gain @returns {"yes"|"no"|"even"} */
export const paysAt = (gain) => (Math.abs(gain - 1) < SAME ? "even" : gain > 1 ? "yes" : "no");

/** The gain of one drafter of constant cost: of the nearest place of the map. @param {GainMap} map @param {number} share @param {number} agreement */
export const gainAt = (map, share, agreement) =>
  map.gains[nearestStop(map.agreements, agreement)][nearestStop(map.shares, share)];

/** The quicker of its two schedules. @param {Drafter} drafter */
export const together = ({ pearl, ahead }) => (pearl.ms <= ahead.ms ? pearl : ahead);

/** Stretches of one band in a row of the map: [band, first place, places]. @param {number[]} row @returns {[number, number, number][]} */
export function stretches(row) {
  /** @type {[number, number, number][]} */ const found = [];
  row.forEach((gain, i) => {
    const last = found[found.length - 1];
    if (last && last[0] === bandOf(gain)) last[2] += 1;
    else found.push([bandOf(gain), i, 1]);
  });
  return found;
}

/** Where labels beside points stand so that none covers another, or a point: each as high as its point, or so many lines below.
 *  @param {{x: number, y: number, text: string}[]} points @param {number} wide of the picture, px @param {number} [left] where it begins, px
 *  @returns {{x: number, y: number, text: string, before: boolean}[]} before: it ends at x */
export function labelled(points, wide, left = 0) {
  const taken = points.map(({ x, y }) => ({ from: x - 7, to: x + 7, y: y + 4 })); // the points themselves
  return points.map(({ x, y, text }) => {
    const length = text.length * LETTER;
    const free = (/** @type {number} */ from, /** @type {number} */ on) =>
      from > left &&
      from + length < wide &&
      !taken.some((one) => one.from < from + length && from < one.to && Math.abs(one.y - on) < LINE);
    const sides = [x + BESIDE, x - BESIDE - length];
    let on = y + 4;
    while (!sides.some((from) => free(from, on)) && on < y + MOST * LINE) on += LINE;
    const from = sides.find((side) => free(side, on)) ?? sides[0];
    taken.push({ from, to: from + length, y: on });
    const before = from < x;
    return { x: before ? from + length : from, y: on, text, before };
  });
}
