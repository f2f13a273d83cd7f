/** The card of a run for slides: what it says, and its drawing as one SVG of 16:9 that needs no style sheet and no
 *  font of ours, and a PNG of it. */

import { grammar, kindOf, standIn } from "../levels/kinds.js";
import { svg } from "../kit/svg.js";
import { slide as words } from "../../../text/en/share.js";
import { translated } from "../../../text/heard.js";
import { differing, isGreedy } from "../levels/greedy.js";
import { clockOf } from "../levels/overlap.js";
import { stackName } from "../levels/stack-names.js";
import { plainSpeed, speedUp } from "../run/figures.js";
import { promptText } from "../run/copies.js";
import { shortPrice } from "../run/spared.js";
import { STATUS } from "../../../text/en/run.js";
import { ratio, rounded } from "../../../text/numbers.js";
import { CLOCKS, HEADLINE } from "../../../text/en/lanes.js";

/** @import {Look} from "../levels/kinds.js" @import {Header} from "../run/events.js"
 *  @import {TraceModel} from "../run/trace.js" */

const [WIDTH, HEIGHT, EDGE] = [1280, 720, 64];
const UI = "'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Noto Sans', sans-serif"; // names that programs for slides know
const MONO = "Consolas, Menlo, 'DejaVu Sans Mono', monospace";
const TEXT = { size: 22, line: 36, top: 400, most: 7 };

// As css/base.css has them: the card is drawn in a theme that the page need not have.
const THEMES = {
  light: { ink: "#1B1F24", muted: "#5C6570", line: "#E1E4E8", paper: "#FFFFFF", tint: 0.28 },
  dark: { ink: "#E8EAED", muted: "#A3ABB5", line: "#31373F", paper: "#171A1F", tint: 0.34 },
};
/** How a level's text is underlined, for those who do not see its colour. @type {Record<string, string>} */
const DASHES = { dotted: "3 5", dashed: "10 6", wavy: "14 4 3 4", double: "", thick: "", solid: "" };

/** @param {string} font as css has it @returns {(text: string) => number} the width of a text in px */
export function measuring(font) {
  const context = document.createElement("canvas").getContext("2d");
  if (!context) return (text) => 12 * text.length;
  return (text) => {
    context.font = font;
    return context.measureText(text).width;
  };
}

/** @param {TraceModel} model of a run that is over @param {boolean} dark
 *  @returns {{picture: SVGElement, label: string}} */
export function drawSlide(model, dark) {
  const facts = factsOf(model);
  const theme = THEMES[dark ? "dark" : "light"];
  const label = words.of(facts.big, facts.unit, facts.stack);
  const root = svg("svg", {
    xmlns: "http://www.w3.org/2000/svg",
    ...{ width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "font-family": UI },
  });
  svg("title", {}, root).textContent = label;
  svg("rect", { width: WIDTH, height: HEIGHT, fill: theme.paper }, root);

  /** A line of text, in no more room than it has; gives where it ends. @param {string} text
   *  @param {{x?: number, y: number, size: number, fill?: string, weight?: number, family?: string, end?: number, most?: number, style?: string}} at */
  const write = (text, at) => {
    const { x = EDGE, y, size, fill = theme.ink, weight = 400, family = UI, end, style = "normal" } = at;
    const measure = measuring(`${style} ${weight} ${size}px ${family}`);
    const most = at.most ?? WIDTH - EDGE - (end === undefined ? x : EDGE);
    const shown = shortened(text, most, measure);
    const wide = measure(shown);
    const left = end === undefined ? x : end - wide;
    if (!shown) return left;
    svg(
      "text",
      {
        ...{ x: left.toFixed(1), y, fill, "font-size": size, "font-weight": weight, "font-family": family },
        ...(style === "normal" ? {} : { "font-style": style }),
        // Elsewhere other letters may stand in for these: they take the same room.
        ...{ textLength: wide.toFixed(1), lengthAdjust: "spacingAndGlyphs", "xml:space": "preserve" },
      },
      root,
    ).textContent = shown;
    return left + wide;
  };

  const named = write(words.brand, { y: 78, size: 22, weight: 600 });
  write(words.about, { x: named + 14, y: 78, size: 22, fill: theme.muted });
  write(facts.title, { y: 78, size: 22, fill: theme.muted, end: WIDTH - EDGE, most: 480 });

  const speed = write(facts.big, { y: 184, size: 92, weight: 650 });
  const most = WIDTH - EDGE - 320 - speed; // what stands beside has the rest
  const size = measuring(`600 30px ${UI}`)(facts.unit) > most ? 25 : 30;
  write(facts.unit, { x: speed + 26, y: 146, size, weight: 600, most });
  write(facts.against, { x: speed + 26, y: 184, size: 24, fill: theme.muted, most });
  facts.beside.forEach((text, i) => write(text, { y: 146 + 38 * i, size: 24, end: WIDTH - EDGE, most: 360 }));

  write(facts.stack, { y: 250, size: 30, weight: 600 });
  const code = write(facts.code, { y: 286, size: 19, fill: theme.muted, family: MONO, most: 620 });
  write(facts.law, { y: 286, size: 20, fill: theme.muted, end: WIDTH - EDGE, most: WIDTH - EDGE - code - 32 });
  const tints = new Map(facts.levels.map((level) => [level.index, hueOf(level, dark)]));
  /** @param {number} x @param {number} y @param {number} width @param {Look} level */
  const line = (x, y, width, level) => {
    const hue = tints.get(level.index);
    svg("rect", { x, y: y - 24, width, height: 30, fill: hue, "fill-opacity": theme.tint }, root);
    const double = level.underline === "double";
    const thick = level.underline === "double" ? 2 : level.underline === "thick" ? 5 : 3;
    for (const down of double ? [5, 9] : [7])
      svg(
        "line",
        {
          ...{ x1: x, x2: x + width, y1: y + down, y2: y + down, stroke: hue, "stroke-width": thick },
          ...(DASHES[level.underline] ? { "stroke-dasharray": DASHES[level.underline] } : {}),
        },
        root,
      );
  };
  let x = EDGE;
  for (const level of facts.levels) {
    if (x > WIDTH - 4 * EDGE) break;
    line(x, 334, 44, level);
    x = write(clean(level.name), { x: x + 56, y: 334, size: 20, fill: theme.muted, most: 300 }) + 32;
  }

  svg("line", { x1: EDGE, x2: WIDTH - EDGE, y1: 358, y2: 358, stroke: theme.line, "stroke-width": 2 }, root);
  const asked = facts.prompt ? TEXT.line : 0;
  write(facts.prompt, { y: TEXT.top, size: TEXT.size, fill: theme.muted, style: "italic" });
  const room = { width: WIDTH - 2 * EDGE, most: TEXT.most - (asked ? 1 : 0) };
  const measure = measuring(`${TEXT.size}px ${UI}`);
  for (const [i, runs] of linesOf(facts.parts, { ...room, measure }).entries()) {
    const y = TEXT.top + asked + i * TEXT.line;
    const indent = measure(/^\s*/.exec(runs.map((run) => run.text).join(""))?.[0] ?? "");
    for (const run of runs) {
      const level = facts.levels.find(({ index }) => index === run.level);
      const from = Math.max(run.x, indent); // an indent is no word
      if (level && run.x + run.width > from) line(EDGE + from, y, run.x + run.width - from, level);
      write(run.text, { x: EDGE + run.x, y, size: TEXT.size, most: run.width + 1 });
    }
  }

  svg("line", { x1: EDGE, x2: WIDTH - EDGE, y1: 650, y2: 650, stroke: theme.line, "stroke-width": 2 }, root);
  write([facts.model, facts.where].filter(Boolean).join(" \u00b7 "), { y: 686, size: 20, fill: theme.muted });
  return { picture: root, label };
}

/** The colour of a level in either theme: those of one letter differ by their shade, as on the page.
 *  @param {Look} level @param {boolean} dark */
function hueOf({ tag, letter, kind }, dark) {
  const target = standIn("target");
  const { colour } = letter === target.letter ? target : kindOf(kind);
  const nth = Math.max(0, Number(tag.slice(letter.length)) - 1) || 0;
  const [share, towards] = grammar.shades[nth % grammar.shades.length] ?? [1, "ink"];
  const theme = THEMES[dark ? "dark" : "light"];
  const rgb = (/** @type {string} */ hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  const other = rgb(towards === "ink" ? theme.ink : theme.paper);
  const mixed = rgb(colour[dark ? "dark" : "light"]).map((part, i) =>
    Math.round(share * part + (1 - share) * other[i]),
  );
  return `rgb(${mixed.join(",")})`;
}

// What the card for slides says of a whole run, and how its text breaks into lines. Pure functions.

/** @typedef {{text: string, level: number}} Part of the text, and the index of the level that supplied it */

// XML has no place for these, and a reader of slides no use: control characters and what reverses the direction of a line.
const UNWRITTEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/g;

const LONGEST = 1000; // characters of one line, far more than fit

/** @param {string} text */
export const clean = (text) => text.replace(/\r\n?/g, "\n").replace(UNWRITTEN, "\ufffd").replaceAll("\t", "    ");

/** @param {TraceModel} model of a run that is over */
export function factsOf(model) {
  const header = /** @type {Header} */ (model.header);
  const last = model.snapshots.at(-1);
  const plain = plainSpeed(model.baseline);
  const gain = speedUp(model, model.end);
  const now = last?.tokens_per_s ?? null;
  const clock = clockOf(header);
  const speed = now === null ? "\u2013" : rounded(now);
  const used = new Set([...model.committed].map((serial) => model.tokens.get(serial)?.level));
  return {
    title: clean(translated(header.title ?? "")),
    big: gain === null ? speed : `${ratio(gain)}\u00d7`,
    unit:
      gain === null ? (clock ? HEADLINE.rateOf[clock] : HEADLINE.rate) : clock ? HEADLINE.gainOf[clock] : HEADLINE.gain,
    against: plain === null ? "" : HEADLINE.against(speed, rounded(plain)),
    beside: [
      last?.tokens_per_target_forward ? words.perPass(ratio(last.tokens_per_target_forward)) : "",
      last?.drafts_kept == null ? "" : words.kept(Math.round(100 * last.drafts_kept)),
    ].filter(Boolean),
    stack: clean(stackName(header.stack)),
    code: clean(header.stack),
    levels: model.levels.filter(({ index }) => used.has(index)),
    prompt: clean(promptText(model).text).trim().replace(/\s+/g, " "),
    parts: partsOf(model),
    where: clean([header.machine, header.recorded?.slice(0, 10)].filter(Boolean).join(", ")),
    model: clean(header.levels.at(-1)?.label ?? ""),
    law: CLOCKS[clock]?.said ?? lawOf(model),
  };
}

/** What the stack does to the text. @param {TraceModel} model */
function lawOf(model) {
  if (!model.header?.lossless) return [words.lossy, shortPrice(model)].filter(Boolean).join(" ");
  if (differing(model)) return STATUS.differs(model.baseline?.equal ?? 0);
  return isGreedy(model) ? words.exact : words.inLaw;
}

/** The committed text without special tokens, stretch by stretch. @param {TraceModel} model @returns {Part[]} */
function partsOf(model) {
  /** @type {Part[]} */ const parts = [];
  for (const { text, serials, special } of model.cells) {
    if (special) continue;
    const level = model.tokens.get(serials[0])?.level ?? -1;
    const last = parts.at(-1);
    if (last?.level === level) last.text += clean(text);
    else parts.push({ text: clean(text), level });
  }
  return parts;
}

/** Lines of at most `width`, each of stretches from its left edge; the last one ends in an ellipsis where text is left.
 *  @param {Part[]} parts @param {{width: number, most: number, measure: (text: string) => number}} room
 *  @returns {{text: string, level: number, x: number, width: number}[][]} */
export function linesOf(parts, { width, most, measure }) {
  const text = parts.map((part) => part.text).join("");
  const end = text.trimEnd().length;
  /** @type {[number, number][]} */ const lines = []; // from and to, in the text
  const long = (/** @type {number} */ from, /** @type {number} */ to) => measure(text.slice(from, to)) > width;
  let at = text.length - text.trimStart().length;
  while (at < end && lines.length <= most) {
    const stop = text.indexOf("\n", at);
    const to = stop < 0 || stop > end ? end : stop;
    let cut = at;
    for (const word of text.slice(at, to).matchAll(/\s*\S+/g)) {
      const next = at + word.index + word[0].length;
      if (long(at, next)) break;
      cut = next;
    }
    if (cut === at && long(at, to)) for (cut = at + 1; !long(at, cut + 1); ) cut += 1; // a word that is longer than a line
    if (/[\udc00-\udfff]/.test(text[cut] ?? "")) cut -= 1; // half of a character
    const whole = cut === at || !text.slice(cut, to).trim();
    if (text.slice(at, cut).trim()) lines.push([at, whole ? to : cut]); // a blank line says nothing on a slide
    at = whole ? to + 1 : cut + text.slice(cut).search(/\S/);
  }
  const more = lines.length > most;
  const shown = lines.slice(0, most);
  const last = shown.at(-1);
  if (more && last) while (last[1] > last[0] && measure(`${text.slice(...last)}\u2026`) > width) last[1] -= 1;
  return shown.map((line, i) => {
    const runs = cut(parts, ...line);
    if (more && i === shown.length - 1) runs.push({ text: "\u2026", level: runs.at(-1)?.level ?? -1 });
    let x = 0;
    return runs.map((run) => {
      const wide = measure(run.text);
      x += wide;
      return { ...run, x: x - wide, width: wide };
    });
  });
}

/** As much of a text as fits, with an ellipsis where it is cut. A prompt may be very long: the place is found by halving.
 *  @param {string} text @param {number} most @param {(text: string) => number} measure */
export function shortened(text, most, measure) {
  if (text.length <= LONGEST && measure(text) <= most) return text;
  const letters = [...text.slice(0, LONGEST)];
  const upTo = (/** @type {number} */ n) => `${letters.slice(0, n).join("")}\u2026`;
  let [fits, over] = [0, letters.length + 1];
  while (over - fits > 1) {
    const middle = (fits + over) >> 1;
    if (measure(upTo(middle)) > most) over = middle;
    else fits = middle;
  }
  return upTo(fits);
}

/** The stretches between two places of the text. @param {Part[]} parts @param {number} from @param {number} to */
function cut(parts, from, to) {
  let at = 0;
  return parts.flatMap(({ text, level }) => {
    const begin = at;
    at += text.length;
    const mine = text.slice(Math.max(0, from - begin), Math.max(0, to - begin));
    return mine ? [{ text: mine, level }] : [];
  });
}
