/** The text panel: its head, its tokens as they are read out, candidates side by side. */

import { translate } from "../language.js";
import { many } from "../many.js";

export const TEXT = {
  /** @type {Record<string, string>} what a token's colour shows */
  colours: { level: "supplied by", passed: "accepted by", source: "database or depth", time: "time" },
  noneNow: "none now; before: ",
  title: "The text",
  colourBy: "colour by",
  /** @type {Record<string, string>} */
  colourTips: {
    level: "a token has the colour of the level that supplied it",
    passed: "a token has the colour of the highest level that accepted it before the target",
    source: "a token has the colour of the database that it was found in, or of the layer that it was read at",
    time: "a token has a colour by the time of its round, shared among the tokens of the round",
  },
  openFile: "open a trace file, or drop one anywhere onto the page",
  saved: (/** @type {string} */ name) => `The trace was saved as ${name}.`,
  noRun: "There is no run yet.",
  above: "\u2191 beginning",
  ghostsTip:
    "drafts that a level rejected, struck out where they stood; those that would have begun a line are at the end of the line before",
  ghosts: "rejected drafts",
  wholeTip: "the whole text from its beginning, in place of the tower",
  whole: "whole text",
  copy: "copy the text",
  copied: "The text was copied.",
  save: "download the trace",
  nothing: "Nothing has been run yet.",
  nothingYet:
    "Write a prompt and press Generate: the text appears here, each token tinted by the level that supplied it.",
  firstRun:
    "The first run fetches and loads the weights, which takes a minute or two; later ones start at once. You can also open a trace file.",
  label: "the text",
  waiting: "The levels read the prompt; nothing is written yet.",
  nothingWritten: "Nothing was written.",
  /** Where the text repeats itself. @param {boolean} small whether the model is the small one of this page */
  circles: (small) =>
    `From here on the text goes in circles. ${small ? "This model has only 135 million parameters, so that it runs on any laptop, and small models do that." : "Small models do that."} Repeated text is what lookups guess best: on other texts they gain less.`,
  flow: "The text, token by token. Arrow keys move between tokens.",
};

/** A token, read out. */
export const TOKEN = {
  newline: "new line ",
  /** @type {Record<string, string>} */
  how: { draft: "drafted by", correct: "correction by", bonus: "bonus of" },
  is: (/** @type {string} */ text, /** @type {string} */ how, /** @type {string} */ level) =>
    `${text}: ${how} ${level}`,
  copied: (/** @type {boolean} */ fromPrompt) => `copied from the ${fromPrompt ? "prompt" : "text"}`,
  accepted: (/** @type {string[]} */ levels) => `accepted by ${levels.join(", ")}`,
  rejected: (/** @type {string} */ level) => `rejected by ${level}`,
  gone: "not in the text",
  lost: "lost with a rejected token before it",
  tentative: "not committed yet",
  candidate: (/** @type {number} */ nth, /** @type {number} */ of) => `candidate ${nth} of ${of} for its place`,
  unasked: "not judged, another one was kept",
  more: (/** @type {number} */ count) => `${count} more rejected tokens here`,
};

/** Candidates in a line of words. */
export const TREE = {
  said: (/** @type {number} */ sequences, /** @type {number} */ tokens) =>
    `${many(sequences, "candidate")}${sequences > 1 ? " side by side" : ""}, ${many(tokens, "token")}`,
  judged: (
    /** @type {string} */ said,
    /** @type {{kept: number, rejected: number, level: string, rest: number}} */ x,
  ) => `${said}: ${x.kept} kept, ${x.rejected} rejected by ${x.level}${x.rest ? `, ${x.rest} not judged` : ""}`,
  waits: (/** @type {string} */ said) => `${said}: not judged yet`,
  dock: "Candidates below the text",
  more: (/** @type {number} */ below, /** @type {number} */ above) =>
    [below ? `\u2193 ${below} more` : "", above ? `\u2191 ${above} above` : ""].filter(Boolean).join(", "),
  label: (/** @type {string} */ said) => `Candidates. ${said}. Line by line in the order in which they are judged.`,
};

translate("text", { TEXT, TOKEN, TREE });
