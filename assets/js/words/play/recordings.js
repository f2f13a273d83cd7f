/** What the menu of recordings says. */

export const WORDS = {
  button: "Recordings",
  others: "Others",
  none: "No recordings are bundled. Generate a run, or open a trace file.",
  shown: "shown now",
  simulated: "simulated",
  times: "times as fast as plain decoding",
  speedTip: "times as fast as plain decoding of the same target, measured beside the run",
  speedSimulated: "times as fast as plain decoding, on a simulated clock",
  made: "simulated: no model ran",
  noWhere: "another day",
  /** @param {string} where */
  recorded: (where) => `recorded on ${where}`,
};
