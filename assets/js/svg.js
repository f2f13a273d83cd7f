/** Small helpers for SVG, time and numbers, shared by the lanes and the charts. */

const NS = "http://www.w3.org/2000/svg";

/** An SVG element with attributes.
 *  @param {string} tag @param {Record<string, any>} attributes @param {Element|null} parent @returns {SVGElement} */
export function svg(tag, attributes = {}, parent = null) {
  const node = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  parent?.append(node);
  return node;
}

/** Sets attributes that differ. */
export function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    const text = typeof value === "number" ? String(Math.round(value * 100) / 100) : value;
    if (node.getAttribute(name) !== text) node.setAttribute(name, text);
  }
}

/** Path data of a box; at least `least` wide so that a moment can be seen. */
export function box(x0, x1, y, h, least = 1) {
  const w = Math.max(least, x1 - x0);
  return `M${x0.toFixed(1)} ${y}h${w.toFixed(1)}v${h}h-${w.toFixed(1)}z`;
}

/** The round number (1, 2 or 5 times a power of ten, or of the steps given) at or above x. */
export function roundUp(x, steps = [1, 2, 5, 10]) {
  const power = 10 ** Math.floor(Math.log10(Math.max(x, 1e-9)));
  return steps.map((n) => n * power).find((n) => n >= x * 0.999) ?? 10 * power;
}

/** ns as text with a unit: 0.02 ms, 58 ms, 1.25 s. */
export function duration(ns) {
  const ms = ns / 1e6;
  if (ms >= 1000) return `${(ms / 1000).toFixed(2)}\u00a0s`;
  if (ms >= 100) return `${ms.toFixed(0)}\u00a0ms`;
  return ms >= 1 ? `${ms.toFixed(1)}\u00a0ms` : `${ms.toFixed(ms < 0.1 ? 3 : 2)}\u00a0ms`;
}

/** Ticks between a and b (ns), about `count` of them, at round times. */
export function ticks(a, b, count) {
  const step = roundUp((b - a) / Math.max(1, count));
  const found = [];
  for (let t = Math.ceil(a / step) * step; t <= b; t += step) found.push(t);
  const [unit, name] = step >= 1e8 ? [1e9, "s"] : step >= 1e3 * 1e2 ? [1e6, "ms"] : [1e3, "\u00b5s"];
  const digits = Math.max(0, -Math.floor(Math.log10(step / unit) + 1e-9));
  return found.map((t) => ({ t, label: `${(t / unit).toFixed(digits)}\u00a0${name}` }));
}

/** Three significant figures, never in powers of ten. */
export function figure(x) {
  if (x === null || x === undefined || !Number.isFinite(x)) return "\u2013";
  if (x === 0 || x === 1) return String(x);
  if (Math.abs(x) < 0.001) return "<0.001";
  return Math.abs(x) >= 100 ? String(Math.round(x)) : String(Number(x.toPrecision(3)));
}

/** Rounded to so many significant figures with its zeros, so that what stands side by side reads alike: 9.20, not 9.2. */
export function rounded(x, digits = 3) {
  if (!Number.isFinite(x)) return "\u2013";
  if (x === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(x)));
  return x.toFixed(Math.min(4, Math.max(0, digits - 1 - size)));
}
