/** The sentences of a run in a file of its own. */

import { translate } from "../language.js";

export const words = {
  why: "The same text, sooner: small levels guess ahead, the large model checks many guesses at once; colour shows which level wrote what.",
  recorded: (/** @type {string} */ where) => (where ? `recorded on ${where}` : "recorded"),
  /** @type {Record<string, (said: string) => string>} what is said of a run, by whose clock its times are of */
  clocks: {
    simulated: () => "simulated: no model ran",
    reckoned: (said) => `${said}; reckoned: each pass was timed alone, then laid on the clock of its lane`,
    real: (said) => `${said}; two lanes at work at the same time, on a real clock`,
  },
  noServer: "this file replays one run and has no server",
  unreadable: "The run in this file cannot be read; export it again.",
};

translate("offline", { words });
