/** Times and figures as this language writes them. */

/** ns as text with a unit, to three significant figures: 0.113 ms, 6.51 ms, 58.3 ms, 1.25 s. Wherever a figure stands it is
 *  written like this, so that it reads the same on every screen. @param {number} ns */
export function duration(ns) {
  const ms = ns / 1e6;
  return ms >= 999.5 ? `${rounded(ms / 1000)}\u00a0s` : `${rounded(ms)}\u00a0ms`;
}

/** A number of ms as `duration` writes it. @param {number} ms */
export const millis = (ms) => duration(ms * 1e6);

/** A ratio of speeds, an acceptance, tokens a pass: two decimals, on every screen. @param {number} x */
export const ratio = (x) => x.toFixed(2);

/** Figures that make up a whole, all as they are written: what is left of it is a difference of written figures, so that what
 *  one reads adds up. @param {number[]} parts @param {number} whole */
export const restOf = (parts, whole) =>
  Math.max(
    0,
    parts.reduce((left, part) => left - Number(rounded(part)), Number(rounded(whole))),
  );

/** Three significant figures, never in powers of ten. @param {number|null|undefined} x */
export function figure(x) {
  if (x === null || x === undefined || !Number.isFinite(x)) return "\u2013";
  if (x === 0 || x === 1) return String(x);
  if (Math.abs(x) < 0.001) return "<0.001";
  return Math.abs(x) >= 100 ? String(Math.round(x)) : String(Number(x.toPrecision(3)));
}

/** Rounded to so many significant figures with its zeros, so that what stands side by side reads alike: 9.20, not 9.2. */
export function rounded(/** @type {number} */ x, digits = 3) {
  if (!Number.isFinite(x)) return "\u2013";
  if (x === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(x)));
  const text = x.toFixed(Math.min(4, Math.max(0, digits - 1 - size)));
  return Math.abs(Number(text)) >= 10 ** (size + 1) ? Number(text).toFixed(Math.max(0, digits - 2 - size)) : text; // 9.996
}
