/** "How long the text is", behind the Planner's first question. */

const count = (/** @type {number} */ n) => n.toLocaleString("en");
const times = (/** @type {number} */ gain) => `${gain.toFixed(2)}×`;

export const LENGTHS = {
  label: "how long the text is",
  asking: "asking the planner\u2026",
  /** Where the best stack with a view becomes the faster one. */
  always: (/** @type {string} */ stack, /** @type {string} */ other) =>
    `A view pays at every length that was measured: \u201c${stack}\u201d is faster than \u201c${other}\u201d.`,
  from: (/** @type {number} */ length, /** @type {string} */ stack, /** @type {string} */ other) =>
    `A view pays from ${count(length)} tokens of text on: there \u201c${stack}\u201d becomes faster than \u201c${other}\u201d.`,
  beyond: (/** @type {number} */ length, /** @type {string} */ stack, /** @type {string} */ other) =>
    `At the longest text that was measured no view pays. Extrapolated, \u201c${stack}\u201d becomes faster than \u201c${other}\u201d at ${count(length)} tokens.`,
  never: (/** @type {number} */ length, /** @type {string} */ stack, /** @type {string} */ other) =>
    `No view pays in long texts here: at ${count(length)} tokens \u201c${other}\u201d is faster than \u201c${stack}\u201d, and stays so.`,
  nothing: "No stack of these profiles is faster than plain decoding at any length.",
  /** Of one stack alone. */
  alone: (/** @type {string} */ stack, /** @type {number} */ length) =>
    `\u201c${stack}\u201d is faster than plain decoding from ${count(length)} tokens of text on.`,
  note: (/** @type {string} */ machine, /** @type {string} */ day) =>
    `A pass of the target reads all of the cache and takes longer the longer the text is; a pass of a view does not. Measured at the dots${machine && ` (${[machine, day].filter(Boolean).join(", ")})`}; between them the profile is interpolated. The lines are the stacks that are best at the longest text.`,
  plot: "Speed-up over plain decoding against the length of the text",
  point: (/** @type {string} */ line, /** @type {number} */ gain, /** @type {number} */ length) =>
    `${line}: ${times(gain)} at ${count(length)} tokens`,
  axis: "tokens of text",
  upright: "speed-up over plain decoding",
  withView: "with a view",
  without: "without a view",
  crossing: (/** @type {number} */ length) => `from ${count(length)} on`,
  table: "By the length of the text: milliseconds of a pass of one row, and speed-ups",
  length: "tokens of text",
  ms: (/** @type {string} */ level) => `${level}, ms a pass`,
  best: "best stack",
  plain: "plain decoding",
  count,
  times,
};
