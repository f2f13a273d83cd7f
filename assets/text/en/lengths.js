/** "How long the text is", behind the Planner's first question. */

import { LANGUAGE, translate } from "../language.js";

const count = (/** @type {number} */ n) => n.toLocaleString(LANGUAGE);
const times = (/** @type {number} */ gain) => `${gain.toFixed(2)}×`;

const stretch = (/** @type {readonly [number|null, number|null]} */ [first, last], /** @type {number} */ nth) => {
  const unit = nth ? "" : " tokens of text";
  if (first === null) return `up to ${count(last ?? 0)}${unit}`;
  return last === null ? `from ${count(first)}${unit} on` : `from ${count(first)} to ${count(last)}${unit}`;
};

export const LENGTHS = {
  label: "how long the text is",
  asking: "asking the planner\u2026",
  /** Where the best stack with a view becomes the faster one. */
  always: "A view of the cache pays at every length that was measured.",
  /** @param {(readonly [number|null, number|null])[]} stretches first and last length of each; null: no end on that side */
  pays: (stretches) => `A view of the cache pays ${stretches.map(stretch).join(" and ")}.`,
  there: (
    /** @type {number} */ length,
    /** @type {readonly [number, number]} */ gains,
    /** @type {readonly [string, string]} */ called,
  ) =>
    `At ${count(length)} tokens \u201c${called[0]}\u201d is ${times(gains[0])} as fast as plain decoding, \u201c${called[1]}\u201d ${times(gains[1])}.`,
  beyond: (/** @type {number} */ length, /** @type {string} */ stack, /** @type {string} */ other) =>
    `At the longest text that was measured no view pays. Extrapolated, \u201c${stack}\u201d becomes faster than \u201c${other}\u201d at ${count(length)} tokens.`,
  never: (/** @type {number} */ length, /** @type {string} */ stack, /** @type {string} */ other) =>
    `No view pays in long texts here: at ${count(length)} tokens \u201c${other}\u201d is faster than \u201c${stack}\u201d, and stays so.`,
  nothing: "No stack of these profiles is faster than plain decoding at any length.",
  /** Of one stack alone. */
  alone: (/** @type {string} */ stack, /** @type {number} */ gain, /** @type {number} */ length) =>
    `\u201c${stack}\u201d is ${times(gain)} as fast as plain decoding at ${count(length)} tokens of text.`,
  note: (/** @type {string} */ machine, /** @type {string} */ day) =>
    `A pass of the target reads all of the cache and takes longer the longer the text is; a pass of a view does not. Measured at the dots${machine && ` (${[machine, day].filter(Boolean).join(", ")})`}; between them the profile is interpolated. At a dot stands the best stack there.`,
  plot: "Speed-up over plain decoding against the length of the text",
  point: (/** @type {string} */ line, /** @type {number} */ gain, /** @type {number} */ length) =>
    `${line}: ${times(gain)} at ${count(length)} tokens`,
  axis: "tokens of text",
  upright: "speed-up over plain decoding",
  withView: "with a view",
  without: "without a view",
  crossing: (/** @type {number} */ length) => `from ${count(length)} on`,
  ends: (/** @type {number} */ length) => `up to ${count(length)}`,
  table: "By the length of the text: milliseconds of a pass of one row, and speed-ups",
  length: "tokens of text",
  ms: (/** @type {string} */ level) => `${level}, ms a pass`,
  count,
  times,
};

translate("lengths", { LENGTHS });
