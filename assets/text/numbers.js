/** Times and figures as the page's language writes them. */

import { LANGUAGE } from "./language.js";

const POINT = new Intl.NumberFormat(LANGUAGE).formatToParts(0.5).find(({ type }) => type === "decimal")?.value ?? ".";

/** A number that JavaScript has written, with the language's decimal sign. @param {string} text */
export const local = (text) => (POINT === "." ? text : text.replace(".", POINT));

/** A number that somebody typed: with a decimal point or the language's sign. @param {string} text */
export const typed = (text) => Number(POINT === "." ? text : text.replace(POINT, "."));

/** The signs of plotly's figures: the decimal sign, and what stands between thousands. */
export const SEPARATORS = POINT === "," ? ",." : ".,";

/** So many decimals: 0.70. @param {number} x @param {number} digits */
export const fixed = (x, digits) => local(x.toFixed(digits));

/** So many significant figures: 0.70. @param {number} x @param {number} digits */
export const precise = (x, digits) => local(x.toPrecision(digits));

/** A count with what the language sets between thousands: 1,200. @param {number} n */
export const count = (n) => n.toLocaleString(LANGUAGE);

/** ns as text with a unit, to three significant figures: 0.113 ms, 6.51 ms, 58.3 ms, 1.25 s. Wherever a figure stands it is
 *  written like this, so that it reads the same on every screen. @param {number} ns */
export function duration(ns) {
  const ms = ns / 1e6;
  return ms >= 999.5 ? `${rounded(ms / 1000)}\u00a0s` : `${rounded(ms)}\u00a0ms`;
}

/** A number of ms as `duration` writes it. @param {number} ms */
export const millis = (ms) => duration(ms * 1e6);

/** A ratio of speeds, an acceptance, tokens a pass: two decimals, on every screen. @param {number} x */
export const ratio = (x) => fixed(x, 2);

/** Figures that make up a whole, all as they are written: what is left of it is a difference of written figures, so that what
 *  one reads adds up. @param {number[]} parts @param {number} whole */
export const restOf = (parts, whole) =>
  Math.max(
    0,
    parts.reduce((left, part) => left - Number(digits(part)), Number(digits(whole))),
  );

/** Three significant figures, never in powers of ten. @param {number|null|undefined} x */
export function figure(x) {
  if (x === null || x === undefined || !Number.isFinite(x)) return "\u2013";
  if (x === 0 || x === 1) return String(x);
  if (Math.abs(x) < 0.001) return local("<0.001");
  return Math.abs(x) >= 100 ? String(Math.round(x)) : local(String(Number(x.toPrecision(3))));
}

/** Rounded to so many significant figures with its zeros, so that what stands side by side reads alike: 9.20, not 9.2. */
export const rounded = (/** @type {number} */ x, significant = 3) => local(digits(x, significant));

function digits(/** @type {number} */ x, significant = 3) {
  if (!Number.isFinite(x)) return "\u2013";
  if (x === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(x)));
  const text = x.toFixed(Math.min(4, Math.max(0, significant - 1 - size)));
  return Math.abs(Number(text)) >= 10 ** (size + 1) ? Number(text).toFixed(Math.max(0, significant - 2 - size)) : text; // 9.996
}
