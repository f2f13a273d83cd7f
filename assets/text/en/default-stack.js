/** A machine's default stack: why it is that one, what is predicted of it, and measuring for it. */

import { translate } from "../language.js";

export const DEFAULT_STACK = {
  title: "The default stack on this machine",
  label: "the default stack on this machine",
  /** Why it is that one. */
  measured: (/** @type {string} */ day) =>
    `It is the fastest by what passes take in the calibration of this machine${on(day)}.`,
  quick: (/** @type {string} */ day) =>
    `It is the fastest by what passes take in the 20-second calibration of this machine${on(day)}.`,
  shipped: (/** @type {string} */ machine, /** @type {string} */ day) =>
    `It is the fastest by what passes take on the machine most like this one: ${machine}${on(day)}.`,
  preset: "Its block lengths are the preset\u2019s own: no profile of its levels is known here.",
  pinned: "Its block lengths are the preset\u2019s own, as this server is told to keep them.",
  /** The same beside a stack that is composed, where the profile stands next to it. */
  brief: {
    measured: "The default stack here, the fastest by the calibration of this machine",
    quick: "The default stack here, the fastest by the 20-second calibration of this machine",
    shipped: "The default stack here, the fastest by the shipped profile nearest to this machine",
    preset: "The default stack here, with the preset\u2019s own block lengths: no profile of its levels is known",
  },
  briefly: (/** @type {string} */ from, /** @type {string} */ more, /** @type {[string, string]|null} */ ends) =>
    more ? `${from}; predicted ${more}\u00d7${range(ends)} the best two levels.` : `${from}.`,
  /** What the planner promises. */
  alone: (/** @type {string} */ gain) => `Predicted: ${gain}\u00d7 the model alone.`,
  over: (/** @type {string} */ gain, /** @type {string} */ more, /** @type {[string, string]|null} */ ends) =>
    `Predicted: ${gain}\u00d7 the model alone and ${more}\u00d7${range(ends)} the best two levels.`,
  overTip:
    "the best stack of two levels in the whole profile, by the same theory; the range: every acceptance at either end of its 95 % interval",
  go: "Measure this machine (20 s)",
  again: "Measure again (20 s)",
  goTip:
    "runs a few short texts through the levels of the default stack, when nobody else\u2019s run is at work, and plans the stack from that; nothing leaves this machine",
  stop: "Stop",
  stopping: "Stopping\u2026",
  asking: "asking for a place in line",
  progress: "share measured",
  stoppedEarly: "Stopped; nothing was kept.",
  unreachable: "The server cannot be reached; nothing was measured.",
  found: (/** @type {string} */ stack) => `Measured. The default stack is ${stack} from now on.`,
  same: (/** @type {string} */ stack) => `Measured. The default stack stays ${stack}.`,
  use: "Use it",
  way: "Measure this machine (20 s)",
};

/** @param {[string, string]|null} ends */
const range = (ends) => (ends ? ` (${ends[0]} to ${ends[1]})` : "");

/** @param {string} day */
const on = (day) => day && `, ${day}`;

translate("default-stack", { DEFAULT_STACK });
