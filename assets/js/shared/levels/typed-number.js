/** A number that somebody typed: brought within its bounds, or left out, and never without a word. */

import { TYPED } from "../../../text/en/page.js";

/** @param {string} text @param {{low: number, high: number, step?: number}} bounds step: 1, the usual one, for whole numbers
 *  @param {string} name of what it sets
 *  @returns {{value: number|null, said: string}} value: null where the text is no number; said: what was done, "" where it fits
 */
export function typedNumber(text, { low, high, step = 1 }, name) {
  const asked = Number(text.trim().replace(",", "."));
  if (text.trim() === "" || !Number.isFinite(asked)) return { value: null, said: TYPED.none(name, text.trim()) };
  const value = Math.min(high, Math.max(low, step < 1 ? asked : Math.round(asked)));
  if (asked > high) return { value, said: TYPED.most(name, high) };
  if (asked < low) return { value, said: TYPED.least(name, low) };
  return { value, said: value === asked ? "" : TYPED.whole(name, value) };
}
