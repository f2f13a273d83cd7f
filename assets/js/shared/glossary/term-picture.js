/** The small pictures of the glossary, in the signs and colours of the page: tokens with their level's letter and line,
 *  bars of probabilities, floors, calls on a clock, cells of a cache, layers. */

import { ratio } from "../../../text/numbers.js";
import { grammar } from "../levels/kinds.js";
import { svg } from "../kit/svg.js";

const WIDTH = 280; // of every picture, in its own units
const ROW = 36;
const [CELL, CELL_GAP] = [20, 3];
const LETTER = 7.4; // width of a letter of a token
const STATES = /** @type {Record<string, string>} */ ({ "~": "struck", "?": "tentative", "+": "own", ".": "accepted" });
/** How a line below a token is drawn, by its level's. */
const DASHES = /** @type {Record<string, string>} */ ({ dotted: "2 3", dashed: "6 3", wavy: "4 2" });

/** @param {import("../../../text/en/glossary.js").Picture} picture @returns {SVGElement} */
export function pictureOf(picture) {
  const sheet = svg("svg.hx-definition-svg", {});
  const height = draw(sheet, picture);
  sheet.setAttribute("viewBox", `0 0 ${WIDTH} ${height}`);
  return sheet;
}

/** Draws a picture and says how high it is. @param {SVGElement} sheet @param {import("../../../text/en/glossary.js").Picture} picture */
function draw(sheet, { rows, bars, other, floors, lit, calls, cells, layers }) {
  if (rows) return drawRows(sheet, rows);
  if (bars) return drawBars(sheet, bars, other);
  if (floors) return drawFloors(sheet, floors, lit);
  if (calls) return drawCalls(sheet, calls);
  if (cells) return drawCells(sheet, ...cells);
  if (layers) return drawLayers(sheet, ...layers);
  return 0;
}

/** @param {string} letter of a level */
function look(letter) {
  const kind = [...grammar.kinds.values()].find((one) => one.letter === letter && !one.written);
  return { hue: `var(--hue-${kind?.name ?? "target"})`, underline: kind?.underline ?? "solid" };
}

/** A group in the colour of a level. @param {SVGElement} sheet @param {string} letter @param {string} [kind] */
function tinted(sheet, letter, kind = "") {
  const group = svg("g", { class: kind }, sheet);
  group.style.setProperty("--hue", look(letter).hue);
  return group;
}

/** @param {SVGElement} sheet @param {number} x @param {number} y @param {string} says @param {string} kind */
function write(sheet, x, y, says, kind) {
  svg("text", { x, y, class: `hx-def-${kind}` }, sheet).textContent = says;
}

/** @param {SVGElement} sheet @param {string} letter @param {number} y */
function badge(sheet, letter, y) {
  const group = tinted(sheet, letter);
  svg("rect.hx-def-badge", { x: 1, y, width: 20, height: 20, rx: 4 }, group);
  write(group, 11, y + 14.5, letter, "letter");
}

/** @param {SVGElement} sheet @param {string[]} rows */
function drawRows(sheet, rows) {
  const parsed = rows.map((row) => row.split(" "));
  // Tokens of one place stand below one another.
  const most = Math.max(...parsed.map((row) => row.length));
  const bare = (/** @type {string} */ word) => (word.length > 1 && word[0] in STATES ? word.slice(1) : word);
  const wide = Array.from({ length: most }, (_, i) =>
    Math.max(...parsed.map((row) => (i && row[i] ? bare(row[i]).length : 0))),
  );
  const left = wide.map((_, i) => 34 + wide.slice(1, i).reduce((sum, n) => sum + n * LETTER + 17, 0));
  parsed.forEach(([letter, ...words], at) => {
    const y = 6 + at * ROW;
    const { underline } = look(letter);
    badge(sheet, letter, y);
    words.forEach((word, i) => {
      if (word === "_") return;
      const state = word.length > 1 ? STATES[word[0]] : undefined;
      const group = tinted(sheet, letter, `hx-def-token hx-def-${state ?? "plain"}`);
      const [x, width] = [left[i + 1], wide[i + 1] * LETTER + 11];
      svg("rect", { x, y, width, height: 20, rx: 3 }, group);
      const line = {
        x1: x,
        x2: x + width,
        y1: y + 20.5,
        y2: y + 20.5,
        "stroke-dasharray": DASHES[underline] ?? "none",
      };
      svg("line.hx-def-line", { ...line }, group);
      if (underline === "double") svg("line.hx-def-line", { ...line, y1: y + 23, y2: y + 23 }, group);
      write(group, x + width / 2, y + 14.5, bare(word), "word");
      if (state === "struck")
        svg("line.hx-def-strike", { x1: x + 2, x2: x + width - 2, y1: y + 10, y2: y + 10 }, group);
      if (state === "accepted") svg("circle.hx-def-dot", { cx: x + width / 2, cy: y - 4, r: 2.4 }, group);
    });
  });
  return parsed.length * ROW;
}

/** @param {SVGElement} sheet @param {string} bars @param {string} [other] */
function drawBars(sheet, bars, other) {
  const lists = [bars, other ?? ""].map((list) =>
    list
      .split(" ")
      .filter(Boolean)
      .map((one) => one.split(":")),
  );
  lists.forEach((list, side) => {
    const x = side * 146;
    list.forEach(([word, share], i) => {
      const p = Number(share);
      const y = 4 + i * 24;
      const group = tinted(sheet, side ? "Q" : "T");
      write(group, x + 14, y + 14, word, "word");
      svg("rect.hx-def-bar", { x: x + 32, y, width: Math.max(2, p * 72), height: 18, rx: 2 }, group);
      write(group, x + 38 + Math.max(2, p * 72), y + 13.5, ratio(p), "figure");
    });
  });
  return 8 + 24 * lists[0].length;
}

/** @param {SVGElement} sheet @param {string} letters the cheapest first @param {string} [lit] */
function drawFloors(sheet, letters, lit) {
  const top = letters.length - 1;
  svg("path.hx-def-roof", { d: "M24 20L140 4L256 20z" }, tinted(sheet, "T"));
  [...letters].reverse().forEach((letter, i) => {
    const y = 22 + i * 30;
    const faint = lit !== undefined && lit !== letter;
    const group = tinted(sheet, letter, faint ? "hx-def-faint" : "");
    svg("rect.hx-def-floor", { x: 24, y, width: 232, height: 25, rx: 5 }, group);
    svg("rect.hx-def-edge", { x: 24, y, width: 5, height: 25, rx: 2 }, group);
    write(group, 46, y + 17, letter, "letter");
    // The cheaper a level, the shorter its call.
    svg("rect.hx-def-bar", { x: 64, y: y + 8, width: 170 / 3 ** (i + (top > 1 ? 0 : i)), height: 9, rx: 2 }, group);
  });
  return 24 + 30 * letters.length;
}

/** @param {SVGElement} sheet @param {string} given */
function drawCalls(sheet, given) {
  const calls = given.split(" ").map((one) => {
    const [letter, span] = one.split(":");
    return /** @type {[string, ...number[]]} */ ([letter, ...span.split("-").map(Number)]);
  });
  const lanes = ["T", "Q", "N"].filter((letter) => calls.some(([own]) => own === letter));
  const end = Math.max(...calls.map(([, , to]) => to));
  const x = (/** @type {number} */ t) => 30 + (t / end) * (WIDTH - 34);
  lanes.forEach((letter, i) => {
    const y = 4 + i * 28;
    badge(sheet, letter, y);
    svg("rect.hx-def-bed", { x: 30, y, width: WIDTH - 34, height: 20 }, sheet);
    const group = tinted(sheet, letter);
    for (const [own, from, to] of calls)
      if (own === letter)
        svg("rect.hx-def-bar", { x: x(from), y, width: Math.max(2, x(to) - x(from)), height: 20 }, group);
  });
  return 4 + 28 * lanes.length;
}

/** @param {SVGElement} sheet @param {number} committed @param {number} tentative */
function drawCells(sheet, committed, tentative) {
  const group = tinted(sheet, "T");
  for (let i = 0; i < committed + tentative; i++) {
    const [x, held] = [4 + i * (CELL + CELL_GAP), i >= committed];
    svg("rect", { class: held ? "hx-def-held" : "hx-def-bar", x, y: 8, width: CELL, height: CELL, rx: 2 }, group);
    if (held) svg("path.hx-def-hatch", { d: `M${x} 18l10 -10M${x} 28l20 -20M${x + 10} 28l10 -10` }, group);
  }
  return 36;
}

/** @param {SVGElement} sheet @param {number} depth @param {number} of */
function drawLayers(sheet, depth, of) {
  for (let i = 0; i < of; i++) {
    const group = tinted(sheet, i < depth ? "E" : "T");
    svg("rect.hx-def-bar", { x: 40, y: 6 + (of - 1 - i) * 13, width: 150, height: 10, rx: 2 }, group);
  }
  const y = 6 + (of - depth) * 13 + 5;
  svg("path.hx-def-way", { d: `M194 ${y}h34m-7 -5l7 5l-7 5` }, tinted(sheet, "E"));
  svg("path.hx-def-way", { d: "M194 11h34m-7 -5l7 5l-7 5" }, tinted(sheet, "T"));
  write(sheet, 246, y + 5, "E", "letter");
  write(sheet, 246, 16, "T", "letter");
  return 8 + of * 13;
}
