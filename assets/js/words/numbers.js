/** Times and figures as this language writes them. */

/** ns as text with a unit: 0.02 ms, 58 ms, 1.25 s. */
export function duration(ns) {
  const ms = ns / 1e6;
  if (ms >= 1000) return `${(ms / 1000).toFixed(2)}\u00a0s`;
  if (ms >= 100) return `${ms.toFixed(0)}\u00a0ms`;
  return ms >= 1 ? `${ms.toFixed(1)}\u00a0ms` : `${ms.toFixed(ms < 0.1 ? 3 : 2)}\u00a0ms`;
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
