/** The drawing of the lanes: beds and names, then the blocks of the times that are shown. */

import { h } from "../kit/dom.js";
import { box, set, svg, ticks } from "../kit/svg.js";

/** @import {LanePart} from "../../systems/index.js" @import {Plan} from "../run/events.js"
 *  @import {Level, Segment, TraceModel} from "../run/trace.js" */

const LETTER = 0.32; // of a lane's height: the width of a letter of the counts on a block
const LEAST_LETTER = 7; // px
const AXIS = 18; // px
const NARROW = 2; // px: blocks below that which stand closer than CLOSE are drawn as one, thousands in a long run
const CLOSE = 1;
const HATCH = 5; // px between slanted lines
const PREFILL = "prefill";

/** Where a time (ns, from a to b) and a level stand, px.
 *  @param {number} a @param {number} b @param {number} width @param {number} lane @param {number} count */
export function scaleOf(a, b, width, lane, count) {
  const x = (/** @type {number} */ t) => ((t - a) / (b - a)) * width;
  return { a, b, width, lane, count, x, y: (/** @type {number} */ level) => (count - 1 - level) * lane };
}

/** @typedef {ReturnType<typeof scaleOf>} Scale */
/** @typedef {[x: number, y: number, text: string, name?: string]} Word */
/** What is drawn: paths by kind and level, and the plan whose levels stand back.
 *  @typedef {Record<"rounds"|"rejects"|"vain"|"hot"|"veil"|"words"|"axis"|"cursor", SVGElement> & {size: string, paths: Map<string, SVGElement>,
 *    plan?: Plan|null}} Built */

/** What depends on the levels and the size alone, redrawn where one of them is another.
 *  @param {TraceModel} model @param {Scale} scale @param {{root: SVGElement, over: SVGElement, names: HTMLElement, parts: LanePart[]}} sheets two of svg, a list, and what systems draw on them
 *  @param {Built|null} [before] what was drawn last @returns {Built} */
export function skeleton(model, scale, { root, over, names, parts }, before = null) {
  const size = [model.levels.map((x) => x.tag + x.name).join(), scale.width, scale.lane].join();
  if (before?.size === size) return before;
  const { lane, count, width } = scale;
  const high = lane * count;
  for (const sheet of [root, over]) {
    sheet.replaceChildren();
    set(sheet, { width, height: high + AXIS, viewBox: `0 0 ${width} ${high + AXIS}` });
  }
  names.replaceChildren(...[...model.levels].reverse().map((level) => laneName(level, lane)));
  /** @type {Built["paths"]} */ const paths = new Map();
  for (let i = 0; i < count; i++)
    svg("rect.hx-lane-bed", { x: 0, y: i * lane + 2, width, height: lane - 4, rx: 3 }, root);
  const rounds = svg("path.hx-lane-rounds", {}, root);
  for (const level of model.levels) {
    for (const kind of ["prefill", "draft", "verify"]) {
      const path = svg("path", { class: `hx-block hx-block-${kind}` }, root);
      path.style.setProperty("--hue", level.hue);
      paths.set(kind + level.index, path);
    }
  }
  const rejects = svg("path.hx-block-reject", {}, root);
  const vain = svg("path.hx-block-vain", {}, root);
  const hot = svg("rect.hx-lane-hot", { rx: 2 }, over);
  const veil = svg("rect.hx-lane-veil", { y: 0 }, over);
  for (const part of parts) part.lay(root, over);
  const words = svg("g.hx-lane-words", {}, root);
  const axis = svg("g.hx-lane-axis", {}, root);
  const cursor = svg("g.hx-lane-cursor", {}, over);
  svg("path.hx-lane-line", { d: `M0 0V${high + 4}` }, cursor);
  svg("path.hx-lane-grip", { d: `M-5 ${high + 11}L0 ${high + 2}L5 ${high + 11}z` }, cursor);
  return { size, paths, rounds, rejects, vain, hot, veil, words, axis, cursor };
}

/** The blocks of the times that are shown, with their words and the axis; of calls that are over at `until`.
 *  @param {TraceModel} model @param {Built} built @param {Scale} scale */
export function drawBlocks(model, built, scale, until = Infinity) {
  const { a, b, x, y, lane, count, width } = scale;
  /** @type {Map<string, {top: number, spans: [number, number][]}>} */
  const data = new Map([...built.paths.keys()].map((key) => [key, { top: 0, spans: [] }]));
  /** @type {string[]} */ const rejects = [];
  /** @type {string[]} */ const vain = [];
  /** @type {Word[]} */ const words = [];
  const letter = Math.max(LEAST_LETTER, LETTER * lane);
  for (const s of model.segments) {
    if (s.t1 < a || s.t0 > b || s.t1 > until) continue;
    const top = y(s.level) + 2;
    const [left, right] = [Math.max(0, x(s.t0)), Math.min(width, x(s.t1))];
    const row = data.get(s.kind + s.level);
    if (row) join(Object.assign(row, { top }).spans, left, Math.max(left + 0.8, right - 0.7));
    if (s.rejected && right - left > 7) rejects.push(box(right - 2.7, right - 0.7, top, lane - 4));
    if (s.vain) {
      const share = s.kind === "draft" ? s.vain / s.tokensOut : 1;
      hatch(vain, right - share * (right - left), right, top, lane - 4);
    }
    const [text, name] = s.kind === "prefill" ? [PREFILL, "hx-word-faint"] : [counts(s), ""];
    if (right - left > letter * (text.length + 1)) words.push([(left + right) / 2, top + lane / 2, text, name]);
  }
  for (const [key, { top, spans }] of data)
    set(/** @type {SVGElement} */ (built.paths.get(key)), {
      d: spans.map(([left, right]) => box(left, right, top, lane - 4, 0.8)).join(""),
    });
  const edges = model.rounds.filter((r) => r.t1 > a && r.t1 < b && r.t1 <= until);
  const dense = edges.length * 7 > width;
  set(built.rounds, { d: dense ? "" : edges.map((r) => `M${x(r.t1).toFixed(1)} 0V${lane * count}`).join("") });
  set(built.rejects, { d: rejects.join("") });
  set(built.vain, { d: vain.join("") });
  texts(built.words, words);
  texts(
    built.axis,
    ticks(a, b, width / 110).map(({ t, label }) => /** @type {Word} */ ([x(t), lane * count + 13, label])),
    width,
  );
}

/** Adds a block to those of its row, from left to right. @param {[number, number][]} spans px @param {number} left @param {number} right */
function join(spans, left, right) {
  const last = spans[spans.length - 1];
  if (last && right - left < NARROW && left - last[1] < CLOSE) last[1] = Math.max(last[1], right);
  else spans.push([left, right]);
}

/** Slanted lines over what was computed in vain. @param {string[]} paths @param {number} left px @param {number} right @param {number} top @param {number} high */
function hatch(paths, left, right, top, high) {
  for (let x = left - high + HATCH; x < right; x += HATCH) {
    const [from, to] = [Math.max(left, x), Math.min(right, x + high)];
    if (to > from)
      paths.push(
        `M${from.toFixed(1)} ${(top + high - (from - x)).toFixed(1)}L${to.toFixed(1)} ${(top + high - (to - x)).toFixed(1)}`,
      );
  }
}

function laneName(/** @type {Level} */ level, /** @type {number} */ height) {
  const style = { height: `${height}px`, "--hue": level.hue };
  return h("li.hx-lane-name", { style, title: level.name }, [
    h("span.hx-badge", { "data-line": level.underline, text: level.tag }),
    h("span.hx-lane-title", level.name),
  ]);
}

const counts = (/** @type {Segment} */ s) =>
  s.kind === "draft" ? String(s.tokensOut) : s.tokensIn === 0 ? "+1" : `${s.tokensIn}\u2192${s.tokensOut}`;

/** Text nodes [x, y, text, class], reused; the first and last stay inside `width`. */
function texts(/** @type {SVGElement} */ group, /** @type {Word[]} */ list, /** @type {number|null} */ width = null) {
  while (group.childNodes.length > list.length) group.lastChild?.remove();
  list.forEach(([x, y, text, name = ""], i) => {
    const node = group.children[i] ?? svg("text", {}, group);
    const anchor = width !== null && x < 12 ? "start" : width !== null && x > width - 24 ? "end" : "middle";
    set(node, { x, y, "text-anchor": anchor, class: name });
    if (node.textContent !== text) node.textContent = text;
  });
}
