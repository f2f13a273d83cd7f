/** Small helpers for SVG and its scales, shared by the lanes and the charts. */

import { fixed } from "../../../text/numbers.js";

const NS = "http://www.w3.org/2000/svg";

/** An SVG element, named as `h` names its own: `svg("path.large", {d}, parent)`.
 *  @param {string} name @param {Record<string, any>} attributes @param {Element|null} parent @returns {SVGElement} */
export function svg(name, attributes = {}, parent = null) {
  const [tag, ...classes] = name.split(".");
  const node = document.createElementNS(NS, tag);
  if (classes.length) node.setAttribute("class", classes.join(" "));
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  parent?.append(node);
  return node;
}

/** Sets attributes that differ. @param {Element} node @param {Record<string, string|number>} attributes */
export function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    const text = typeof value === "number" ? String(Math.round(value * 100) / 100) : value;
    if (node.getAttribute(name) !== text) node.setAttribute(name, text);
  }
}

/** Path data of a box; at least `least` wide so that a moment can be seen.
 *  @param {number} x0 @param {number} x1 @param {number|string} y @param {number|string} h */
export function box(x0, x1, y, h, least = 1) {
  const w = Math.max(least, x1 - x0);
  return `M${x0.toFixed(1)} ${y}h${w.toFixed(1)}v${h}h-${w.toFixed(1)}z`;
}

/** The round number (1, 2 or 5 times a power of ten, or of the steps given) at or above x. @param {number} x */
export function roundUp(x, steps = [1, 2, 5, 10]) {
  const power = 10 ** Math.floor(Math.log10(Math.max(x, 1e-9)));
  return steps.map((n) => n * power).find((n) => n >= x * 0.999) ?? 10 * power;
}

/** Ticks between a and b (ns), about `count` of them, at round times. */
export function ticks(/** @type {number} */ a, /** @type {number} */ b, /** @type {number} */ count) {
  const step = roundUp((b - a) / Math.max(1, count));
  const found = [];
  for (let t = Math.ceil(a / step) * step; t <= b; t += step) found.push(t);
  const [unit, name] = step >= 1e8 ? [1e9, "s"] : step >= 1e3 * 1e2 ? [1e6, "ms"] : [1e3, "\u00b5s"];
  const digits = Math.max(0, -Math.floor(Math.log10(step / unit) + 1e-9));
  return found.map((t) => ({ t, label: `${fixed(t / unit, digits)}\u00a0${name}` }));
}
