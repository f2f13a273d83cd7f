/** A part of the page as one SVG that looks the same elsewhere: boxes, lines and text where the browser laid them out,
 *  with the colours and letters that the style sheets gave them. Controls are left out. */

import { svg } from "../svg.js";
import { inkOf, riseOf } from "./ink.js";

const LEFT_OUT =
  "button, select, input, textarea, details:not([open]) > :not(summary), summary, .hx-sr, .hx-pop, .hx-tip, .hx-lane-tip, .hx-grip, .hx-depth-ticks, [data-no-picture], script, style";
const SIDES = /** @type {const} */ (["Top", "Right", "Bottom", "Left"]);
const MARGIN = 12;

/** @param {HTMLElement} host @param {string} title @returns {SVGElement} */
export function paint(host, title) {
  const box = host.getBoundingClientRect();
  const [width, height] = [Math.ceil(box.width) + 2 * MARGIN, Math.ceil(box.height) + 2 * MARGIN];
  const root = svg("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` });
  svg("title", {}, root).textContent = title;
  svg("rect", { width, height, fill: inkOf(paper(host)).colour }, root);
  const at = { x: box.left - MARGIN, y: box.top - MARGIN };
  walk(host, svg("g", {}, root), at, box);
  return root;
}

/** The colour that an element lies on. @param {Element|null} element @returns {string} */
function paper(element) {
  for (let node = element; node; node = node.parentElement) {
    const css = getComputedStyle(node).backgroundColor;
    if (inkOf(css).opacity === 1) return css;
  }
  return getComputedStyle(document.body).getPropertyValue("--paper") || "#fff";
}

/** @typedef {{x: number, y: number}} Point where the picture begins, in the window
 *  @param {Element} node @param {SVGElement} into @param {Point} at @param {DOMRect} frame */
function walk(node, into, at, frame) {
  if (node.matches(LEFT_OUT)) return;
  const style = getComputedStyle(node);
  if (style.display === "none" || style.visibility === "hidden" || +style.opacity === 0) return;
  const box = node.getBoundingClientRect();
  if (box.width && box.height && (box.bottom < frame.top || box.top > frame.bottom)) return; // scrolled away
  const group = +style.opacity < 1 ? svg("g", { opacity: style.opacity }, into) : into;
  const said = /** @type {HTMLElement} */ (node).dataset?.said; // what a control is set to
  if (said) return void word(said, style, box, into, at);
  if (node instanceof SVGSVGElement) return void group.append(cloned(node, box.left - at.x, box.top - at.y));
  if (box.width && box.height) boxOf(style, box, group, at);
  for (const child of node.childNodes) {
    if (child instanceof Element) walk(child, group, at, frame);
    else if (child instanceof Text && child.data.trim()) textOf(child, style, group, at);
  }
}

/** Background and borders. @param {CSSStyleDeclaration} style @param {DOMRect} box @param {SVGElement} into @param {Point} at */
function boxOf(style, box, into, at) {
  const [x, y] = [box.left - at.x, box.top - at.y];
  const area = { x, y, width: box.width, height: box.height };
  const rx = Math.min(parseFloat(style.borderTopLeftRadius) || 0, box.height / 2);
  const outline = /^polygon\((.*)\)$/.exec(style.clipPath);
  for (const { colour, opacity, from, to } of fills(style, box.width)) {
    if (!opacity || to <= from) continue;
    const paint = { fill: colour, "fill-opacity": opacity };
    if (outline) svg("polygon", { points: corners(outline[1], area), ...paint }, into);
    else svg("path", { d: rounded(area, from, to, rx), ...paint }, into);
  }
  const edges = SIDES.map((side) => ({
    side,
    width: style[`border${side}Style`] === "none" ? 0 : parseFloat(style[`border${side}Width`]) || 0,
    ink: inkOf(style[`border${side}Color`]),
    dashed: /dashed|dotted/.test(style[`border${side}Style`]),
  })).filter((edge) => edge.width && edge.ink.opacity);
  const [first] = edges;
  const even = edges.length === 4 && edges.every((one) => one.width === first.width && one.ink === first.ink);
  const stroke = (/** @type {typeof first} */ edge) => ({
    stroke: edge.ink.colour,
    "stroke-opacity": edge.ink.opacity,
    "stroke-width": edge.width,
    ...(edge.dashed ? { "stroke-dasharray": `${2 * edge.width + 1}` } : {}),
  });
  if (even) {
    const half = first.width / 2;
    const inner = { x: x + half, y: y + half, width: box.width - first.width, height: box.height - first.width };
    svg("rect", { ...inner, rx: Math.max(0, rx - half), fill: "none", ...stroke(first) }, into);
    return;
  }
  for (const edge of edges) {
    const half = edge.width / 2;
    const [right, bottom] = [x + box.width, y + box.height];
    const ends = {
      Top: [x, y + half, right, y + half],
      Right: [right - half, y, right - half, bottom],
      Bottom: [x, bottom - half, right, bottom - half],
      Left: [x + half, y, x + half, bottom],
    }[edge.side];
    const [x1, y1, x2, y2] = ends ?? [];
    svg("line", { x1, y1, x2, y2, ...stroke(edge) }, into);
  }
}

/** What fills a box, from the back, and from where to where: gradients from left to right that change at one place, of
 *  others the first colour that can be seen. @param {CSSStyleDeclaration} style @param {number} width */
function fills(style, width) {
  const whole = { from: 0, to: width };
  const found = [{ ...inkOf(style.backgroundColor), ...whole }];
  const gradient = /linear-gradient\((.*)\)$/.exec(style.backgroundImage)?.[1];
  if (!gradient) return found;
  const stops = [...gradient.matchAll(/((?:rgba?|color|oklab|oklch|lab|lch|hsl)\([^()]*\))(?:\s+(-?[\d.]+)(px|%))?/g)];
  const inks = stops.map((stop) => inkOf(stop[1]));
  const ends = stops.map(([, , place, unit]) => (unit === "%" ? (+place / 100) * width : +place));
  if (gradient.startsWith("to right") && stops.length === 2 && ends[1] <= ends[0])
    return [...found, { ...inks[0], from: 0, to: ends[0] }, { ...inks[1], from: ends[0], to: width }];
  const seen = inks.find((ink) => ink.opacity) ?? inks[0];
  const faint = style.backgroundImage.startsWith("repeating") ? 0.5 : 1; // hatched
  if (seen) found.push({ ...seen, opacity: faint * seen.opacity, ...whole });
  return found;
}

/** The part of a box with round corners between two of its places. @param {{x: number, y: number, width: number, height: number}} area
 *  @param {number} from @param {number} to @param {number} round */
function rounded({ x, y, width, height }, from, to, round) {
  const [left, right] = [from < round ? round : 0, width - to < round ? round : 0];
  const turn = (/** @type {number} */ r, /** @type {number} */ dx, /** @type {number} */ dy) =>
    r ? `a${r} ${r} 0 0 1 ${dx * r} ${dy * r}` : "";
  const [top, side] = [to - from - left - right, (/** @type {number} */ r) => height - 2 * r];
  return `M${x + from + left} ${y}h${top}${turn(right, 1, 1)}v${side(right)}${turn(right, -1, 1)}h${-top}${turn(left, -1, -1)}v${-side(left)}${turn(left, 1, -1)}z`;
}

/** @param {string} polygon @param {{x: number, y: number, width: number, height: number}} area */
const corners = (polygon, area) =>
  polygon
    .split(",")
    .map((point) => {
      const [x, y] = point.trim().split(/\s+/);
      const place = (/** @type {string} */ text, /** @type {number} */ size) =>
        text.endsWith("%") ? (parseFloat(text) / 100) * size : parseFloat(text);
      return `${area.x + place(x, area.width)},${area.y + place(y, area.height)}`;
    })
    .join(" ");

/** One word in the middle of a box. @param {string} text @param {CSSStyleDeclaration} style @param {DOMRect} box
 *  @param {SVGElement} into @param {Point} at */
function word(text, style, box, into, at) {
  const [x, y] = [box.left - at.x + box.width / 2, box.top - at.y + box.height / 2];
  const look = { fill: inkOf(style.color).colour, "font-family": style.fontFamily, "font-size": style.fontSize };
  svg("text", { x, y, dy: "0.35em", "text-anchor": "middle", ...look }, into).textContent = text;
}

/** A text, line by line. @param {Text} node @param {CSSStyleDeclaration} style @param {SVGElement} into @param {Point} at */
function textOf(node, style, into, at) {
  const ink = inkOf(style.color);
  for (const { text, box } of lines(node)) {
    const { kept, width } = fitted(text, box, node.parentElement, style);
    const shown = style.textTransform === "uppercase" ? kept.toUpperCase() : kept;
    const line = svg(
      "text",
      {
        x: (box.left - at.x).toFixed(2),
        y: (box.top - at.y + box.height * riseOf(style)).toFixed(2),
        fill: ink.colour,
        ...(ink.opacity < 1 ? { "fill-opacity": ink.opacity } : {}),
        "font-family": style.fontFamily,
        "font-size": style.fontSize,
        "font-weight": style.fontWeight,
        ...(style.fontStyle === "normal" ? {} : { "font-style": style.fontStyle }),
        // Elsewhere other letters may stand in for these: they take the same room.
        textLength: width.toFixed(2),
        lengthAdjust: "spacingAndGlyphs",
      },
      into,
    );
    if (style.textDecorationLine !== "none")
      line.setAttribute("text-decoration", `${style.textDecorationLine} ${style.textDecorationStyle}`);
    line.textContent = shown;
  }
}

/** What is shown of a line where its box ends it with dots. @param {string} text @param {DOMRect} box @param {Element|null} parent
 *  @param {CSSStyleDeclaration} style of the parent */
function fitted(text, box, parent, style) {
  const room =
    style.textOverflow === "ellipsis" ? (parent?.getBoundingClientRect().right ?? Infinity) - box.left : Infinity;
  if (box.width <= room + 0.5) return { kept: text, width: box.width };
  const letters = [...text];
  return {
    kept: `${letters
      .slice(0, (letters.length * room) / box.width - 1)
      .join("")
      .trimEnd()}\u2026`,
    width: room,
  };
}

/** The lines that a text is broken into, as they are shown. @param {Text} node */
function lines(node) {
  const range = document.createRange();
  range.selectNodeContents(node);
  const boxes = [...range.getClientRects()].filter((box) => box.width > 0.5);
  if (boxes.length < 2) return boxes.map((box) => ({ text: node.data.trim().replace(/\s+/g, " "), box }));
  /** @type {{text: string, box: DOMRect, from: number}[]} */ const found = [];
  for (const word of node.data.matchAll(/\S+/g)) {
    range.setStart(node, word.index);
    range.setEnd(node, word.index + word[0].length);
    const box = range.getBoundingClientRect();
    const last = found[found.length - 1];
    if (last && Math.abs(last.box.top - box.top) < box.height / 2) {
      range.setStart(node, last.from);
      Object.assign(last, { text: `${last.text} ${word[0]}`, box: range.getBoundingClientRect() });
    } else found.push({ text: word[0], box, from: word.index });
  }
  return found;
}

// A copy of an SVG that needs no style sheet.

const PAINTS = ["fill", "stroke"];
const LOOKS = [
  "fill-opacity",
  "font-family",
  "font-size",
  "font-style",
  "font-weight",
  "letter-spacing",
  "opacity",
  "paint-order",
  "shape-rendering",
  "stroke-dasharray",
  "stroke-linecap",
  "stroke-linejoin",
  "stroke-opacity",
  "stroke-width",
  "text-anchor",
];
// Programs that draw SVG know few of the names of baselines: the letters are moved instead.
const BASELINES = new Map([
  ["central", "0.35em"],
  ["middle", "0.3em"],
  ["hanging", "0.8em"],
]);

/** @param {SVGSVGElement} drawn @param {number} x @param {number} y */
function cloned(drawn, x, y) {
  const copy = /** @type {SVGSVGElement} */ (drawn.cloneNode(true));
  const from = [drawn, ...drawn.querySelectorAll("*")];
  const to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((node, i) => dress(node, to[i]));
  for (const gone of copy.querySelectorAll("[data-gone]")) gone.remove();
  const box = drawn.getBoundingClientRect();
  for (const [name, value] of Object.entries({ x, y, width: box.width, height: box.height }))
    copy.setAttribute(name, String(value));
  copy.setAttribute("overflow", getComputedStyle(drawn).overflow);
  return copy;
}

/** @param {Element} node @param {Element} copy */
function dress(node, copy) {
  const style = getComputedStyle(node);
  for (const { name } of [...copy.attributes])
    if (/^(class|style|role|tabindex|data-.*|aria-.*|on.*|xmlns:.*)$/.test(name)) copy.removeAttribute(name);
  if (style.display === "none" || style.visibility === "hidden") return void copy.setAttribute("data-gone", "");
  if (!(node instanceof SVGGraphicsElement) || node instanceof SVGSVGElement) return;
  for (const name of PAINTS) {
    const css = style.getPropertyValue(name);
    if (css.startsWith("url(")) copy.setAttribute(name, css.replace(/url\("?[^"#]*#/, "url(#").replace('")', ")"));
    else if (css === "none") copy.setAttribute(name, "none");
    else {
      const { colour, opacity } = inkOf(css);
      copy.setAttribute(name, opacity ? colour : "none");
      if (opacity && opacity < 1)
        copy.setAttribute(`${name}-opacity`, String(opacity * (+style.getPropertyValue(`${name}-opacity`) || 1)));
    }
  }
  const texts = node instanceof SVGTextContentElement;
  for (const name of LOOKS) {
    if (!texts && /^(font|letter|text)/.test(name)) continue;
    if (/-opacity$/.test(name) && copy.hasAttribute(name)) continue;
    const value = style.getPropertyValue(name);
    if (value) copy.setAttribute(name, value);
  }
  const shift = texts && BASELINES.get(style.dominantBaseline);
  if (shift && !copy.hasAttribute("dy")) copy.setAttribute("dy", shift);
}
