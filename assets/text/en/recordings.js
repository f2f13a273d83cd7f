/** What the menu of recordings says. */

import { translate } from "../language.js";

export const WORDS = {
  button: "Recordings",
  others: "Others",
  none: "No recordings are bundled. Generate a run, or open a trace file.",
  shown: "shown now",
  times: "times as fast as plain decoding",
  speedTip: "times as fast as plain decoding of the same target, measured beside the run",
  speedOn: (/** @type {string} */ clock) => `times as fast as plain decoding of the same target: ${clock}`,
  noWhere: "another day",
  /** @param {string} where */
  recorded: (where) => `recorded on ${where}`,
};

translate("recordings", { WORDS });
