/** The card of a run for slides: one SVG of 16:9 that needs no style sheet and no font of ours, and a PNG of it. */

import { grammar, kindOf, standIn } from "../levels/kinds.js";
import { svg } from "../kit/svg.js";
import { clean, factsOf, linesOf, shortened } from "./slide-facts.js";
import { slide as words } from "../../../text/en/share.js";

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

/**
 * @param {import("../run/trace.js").TraceModel} model of a run that is over @param {boolean} dark
 * @returns {{picture: SVGElement, label: string}}
 */
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

  /** A line of text, in no more room than it has. @returns {number} where it ends */
  const write = (
    /** @type {string} */ text,
    /** @type {{x?: number, y: number, size: number, fill?: string, weight?: number, family?: string, end?: number, most?: number, style?: string}} */ at,
  ) => {
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
  write(facts.unit, { x: speed + 26, y: 146, size: 30, weight: 600, most: 430 });
  write(facts.against, { x: speed + 26, y: 184, size: 24, fill: theme.muted, most: 430 });
  facts.beside.forEach((text, i) => write(text, { y: 146 + 38 * i, size: 24, end: WIDTH - EDGE, most: 360 }));

  write(facts.stack, { y: 250, size: 30, weight: 600 });
  const code = write(facts.code, { y: 286, size: 19, fill: theme.muted, family: MONO, most: 620 });
  write(facts.law, { y: 286, size: 20, fill: theme.muted, end: WIDTH - EDGE, most: WIDTH - EDGE - code - 32 });
  const tints = new Map(facts.levels.map((level) => [level.index, hueOf(level, dark)]));
  const line = (
    /** @type {number} */ x,
    /** @type {number} */ y,
    /** @type {number} */ width,
    /** @type {any} */ level,
  ) => {
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
 *  @param {import("../levels/kinds.js").Look} level @param {boolean} dark */
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
