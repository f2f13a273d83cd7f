/** A system's drawing, in the signs of the page: floors with their letters and hues, what each hands up, what is kept, and lanes
 *  where levels work at the same time. */

import { svg } from "../../shared/kit/svg.js";
import { kindOf, REJECT } from "../../shared/levels/kinds.js";
import { tokensOf, turnOf, writtenBy, bodyFrom, isHead, looksUp, lengthOf, linesOf, shapeOf } from "./shape.js";

/** @import {System} from "./by-question.js" @import {Floor, Token} from "./shape.js" */

const FLOOR = { x: 20, wide: 68, high: 32 };
const TILE = { x: 112, side: 18, step: 25, line: 25 };
const GAP = 14; // between two floors
const LANES = { high: 58, step: 27, wide: 232, all: 290 };
const CELLS = [0, 1, 2, 3];

/** A diffusion model has a model's. @param {string} kind */
const hueOf = (kind) => `var(--hue-${kindOf(kind).name})`;

/** @param {System} system */
export function shapePicture(system) {
  const { floors, lanes } = shapeOf(system.shape);
  const loosely = system.how_judged === "loosely";
  const top = floors.length - 1;
  const hues = floors.map(({ kind }) => hueOf(kind || "target"));
  const others = floors.map(({ others: [kind] }, i) => (kind ? hueOf(kind) : hues[i]));
  const el = svg("svg.hx-shape", { "aria-hidden": "true" }); // its caption says the same
  const high = (/** @type {number} */ i) =>
    Math.max(FLOOR.high, i === top ? 0 : linesOf(floors[i].hand) * TILE.line) + GAP;
  let y = 6;
  /** @type {number[]} */ const at = []; // the upper edge of each floor
  for (let i = top; i >= 0; i--) {
    at[i] = y;
    y += high(i);
  }
  const floorsEnd = y;
  if (lanes) y += LANES.high + LANES.step * (lanesOf(lanes, floors) - 2);
  const longest = Math.max(writtenBy(floors, loosely).length, ...floors.map(({ hand }) => lengthOf(hand)));
  const wide = TILE.x + longest * TILE.step;
  el.setAttribute("viewBox", `0 0 ${lanes ? Math.max(wide, LANES.all) : wide} ${y}`);
  drawBody(el, floors, at, hues[top], system);
  floors.forEach((floor, i) => {
    if (floor.kind) drawFloor(el, floor, at[i]);
    const tokens = i === top ? [] : tokensOf(floors, i, loosely);
    drawHand(el, floor, tokens, at[i], hues, others);
  });
  writtenBy(floors, loosely).forEach((by, nth) => tile(el, nth, at[top] + 7, hues[by], "kept"));
  if (lanes) drawLanes(el, floors, hues, lanes, floorsEnd + 4);
  return el;
}

/** Floors that share their weights are one body; heads read the target's last state.
 *  @param {SVGElement} el @param {Floor[]} floors @param {number[]} at @param {string} hue @param {System} system */
function drawBody(el, floors, at, hue, system) {
  const top = floors.length - 1;
  const from = bodyFrom(floors);
  if (from < top) {
    const box = { x: FLOOR.x - 7, y: at[top] - 4, width: FLOOR.wide + 14, rx: 9, class: "hx-shape-body" };
    svg("rect", { ...box, height: at[from] + FLOOR.high + 4 - at[top] + 4 }, el).style.setProperty("--hue", hue);
  }
  if (system.who_drafts !== "heads") return;
  const drafter = floors.findIndex(isHead);
  const [high, low] = [at[top] + FLOOR.high / 2, at[Math.max(0, drafter)] + FLOOR.high / 2];
  svg("path.hx-shape-fed", { d: `M${FLOOR.x} ${high}H8V${low}H${FLOOR.x - 5}` }, el);
  svg("path.hx-shape-fed.hx-shape-tip", { d: `M${FLOOR.x - 8} ${low - 4}l6 4-6 4` }, el);
}

/** Its signs side by side: several databases, or two that draft together. @param {SVGElement} el @param {Floor} floor @param {number} y */
function drawFloor(el, { kind, others, times }, y) {
  const kinds = [...Array.from({ length: times }, () => kind), ...others];
  const wide = (FLOOR.wide - 4 * (kinds.length - 1)) / kinds.length;
  kinds.forEach((one, i) => {
    const group = svg("g.hx-shape-floor", {}, el);
    group.style.setProperty("--hue", hueOf(one));
    const lettered = times === 1 || i === (times - 1) >> 1; // databases have one letter together
    drawSign(group, one, FLOOR.x + i * (wide + 4), y, wide, lettered ? kindOf(one).letter : "");
  });
}

/** @param {SVGElement} group @param {string} kind @param {number} x @param {number} y @param {number} wide @param {string} letter */
function drawSign(group, kind, x, y, wide, letter) {
  const lookup = looksUp(kind);
  if (lookup) cylinder(group, x, y, wide);
  else svg("rect", { x, y, width: wide, height: FLOOR.high, rx: 6 }, group);
  if (kind === "diffusion")
    for (const i of CELLS)
      svg(
        "rect",
        { x: x + 12 + i * 12, y: y + 12, width: 8, height: 8, rx: 1, class: `hx-shape-cell-${i % 2}` },
        group,
      );
  else svg("text", { x: x + wide / 2, y: y + (lookup ? 24 : 21), "text-anchor": "middle" }, group).textContent = letter;
}

/** A database. @param {SVGElement} el @param {number} x @param {number} y @param {number} wide */
function cylinder(el, x, y, wide) {
  const [round, high] = [5, FLOOR.high];
  const arc = `A${wide / 2} ${round} 0 0`;
  svg(
    "path",
    { d: `M${x} ${y + round}${arc} 1 ${x + wide} ${y + round}V${y + high - round}${arc} 1 ${x} ${y + high - round}Z` },
    el,
  );
  svg("path.hx-shape-rim", { d: `M${x} ${y + round}${arc} 0 ${x + wide} ${y + round}` }, el);
}

/** What a floor hands up. @param {SVGElement} el @param {Floor} floor @param {Token[]} tokens @param {number} y @param {string[]} hues @param {string[]} others */
function drawHand(el, { hand }, tokens, y, hues, others) {
  if (!hand) return;
  const middle = (/** @type {number} */ line) => y + 7 + line * TILE.line + TILE.side / 2;
  const left = (/** @type {number} */ x) => TILE.x + x * TILE.step;
  for (const { x, line, parent } of tokens) {
    const from = parent < 0 ? { x: -0.45, line: 0 } : tokens[parent];
    const [x0, x1] = [left(from.x) + (parent < 0 ? 0 : TILE.side), left(x)];
    const bend = (x0 + x1) / 2;
    svg(
      "path.hx-shape-edge",
      { d: `M${x0} ${middle(from.line)}C${bend} ${middle(from.line)} ${bend} ${middle(line)} ${x1} ${middle(line)}` },
      el,
    );
  }
  tokens.forEach(({ x, line, by, other, fate }) => {
    tile(
      el,
      x,
      middle(line) - TILE.side / 2,
      (other ? others : hues)[by],
      fate,
      hand.form === "cells" ? String(turnOf(x)) : "",
    );
  });
  if (hand.form !== "block") return;
  const [x, wide] = [left(0) - 5, (hand.widths[0] - 1) * TILE.step + TILE.side + 10];
  svg("rect.hx-shape-block", { x, y: y + 2, width: wide, height: TILE.side + 10, rx: 6 }, el);
}

/** @param {SVGElement} el @param {number} nth @param {number} y @param {string} hue @param {string} fate @param {string} [sign] */
function tile(el, nth, y, hue, fate, sign = "") {
  const x = TILE.x + nth * TILE.step;
  const group = svg("g", { class: `hx-shape-tile hx-shape-${fate}` }, el);
  group.style.setProperty("--hue", hue);
  group.style.setProperty("--reject", REJECT.hue);
  svg("rect", { x, y, width: TILE.side, height: TILE.side, rx: 4 }, group);
  const [cx, cy] = [x + TILE.side / 2, y + TILE.side / 2];
  if (fate === "rejected") svg("path.hx-shape-cross", { d: `M${cx - 4} ${cy - 4}l8 8m0-8l-8 8` }, group);
  else if (fate === "spared")
    svg("path.hx-shape-cross", { d: `M${cx - 6} ${cy - 1}q3-4 6 0t6 0M${cx - 6} ${cy + 5}q3-4 6 0t6 0` }, group);
  else if (sign) svg("text", { x: cx, y: cy + 5, "text-anchor": "middle" }, group).textContent = sign;
}

/** How many lanes are drawn: one for each floor where none waits, else the target's and that of what drafts. */
const lanesOf = (/** @type {string} */ lanes, /** @type {unknown[]} */ floors) =>
  lanes === "free" ? Math.max(2, floors.length) : 2;

/** Lanes on one clock, the target's first.
 *  @param {SVGElement} el @param {Floor[]} floors @param {string[]} hues @param {string} lanes @param {number} y */
function drawLanes(el, floors, hues, lanes, y) {
  const top = floors.length - 1;
  /** @param {number} of @param {number} line @param {[number, number, boolean][]} blocks */
  const lane = (of, line, blocks) => {
    const upper = y + line * LANES.step;
    svg("path.hx-shape-clock", { d: `M${FLOOR.x + 22} ${upper + 10}h${LANES.wide}` }, el);
    const letter = svg("text.hx-shape-lane", { x: FLOOR.x + 4, y: upper + 15 }, el);
    letter.textContent = kindOf(floors[of].kind).letter;
    for (const [from, wide, lost] of blocks) {
      const one = svg("rect", { x: FLOOR.x + 26 + from, y: upper + 2, width: wide, height: 16, rx: 3 }, el);
      one.setAttribute("class", `hx-shape-call${lost ? " hx-shape-lost" : ""}`);
      one.style.setProperty("--hue", hues[of]);
      one.style.setProperty("--reject", REJECT.hue);
    }
  };
  const steps = [0, 1, 2, 3];
  const free = Array.from({ length: 9 }, (_, i) => i);
  lane(
    top,
    0,
    steps.map((i) => [lanes === "step" ? i * 57 : 20 + i * 52, lanes === "step" ? 53 : 49, false]),
  );
  const last = lanesOf(lanes, floors) - 1;
  for (let line = 1; line < last; line++)
    lane(
      top - line,
      line,
      [0, 1, 2, 3, 4].map((i) => [10 + i * 41, 38, i === 2]),
    );
  lane(
    Math.max(0, top - last),
    last,
    lanes === "step" ? steps.map((i) => [i * 57, 42, i === 2]) : free.map((i) => [i * 25, 22, i === 5]),
  );
}
