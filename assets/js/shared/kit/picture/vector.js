/** A copy of an SVG that needs no style sheet. */

import { inkOf } from "./ink.js";

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
export function cloned(drawn, x, y) {
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
