/** The sentences of a run in a file of its own. */

export const words = {
  why: "The same text, sooner: small levels guess ahead, the large model checks many guesses at once; colour shows which level wrote what.",
  recorded: (/** @type {string} */ where) => (where ? `recorded on ${where}` : "recorded"),
  simulated: "simulated: no model ran",
  noServer: "this file replays one run and has no server",
  unreadable: "The run in this file cannot be read; export it again.",
};
