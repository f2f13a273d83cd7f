/** The frame of the page: its title bar, its links for the keyboard, its messages and its figures. */

import { translate } from "../language.js";

export const TITLE = {
  help: "help: how to read this page",
  helpName: "how to read this page",
  name: "HSD Explorer",
  theme: "light or dark",
  language: "language",
};

export const SKIP = {
  name: "skip to",
  playback: "Skip to playback",
  text: "Skip to the text",
  tower: "Skip to the tower",
  tab: "Skip to this tab\u2019s content",
};

/** Of a number that was typed. */
export const TYPED = {
  none: (/** @type {string} */ name, /** @type {string} */ text) =>
    text
      ? `\u201c${text}\u201d is not a number: ${name} stays as it was.`
      : `Nothing was typed: ${name} stays as it was.`,
  most: (/** @type {string} */ name, /** @type {number} */ high) => `${name} is at most ${high}, and is set to that.`,
  least: (/** @type {string} */ name, /** @type {number} */ low) => `${name} is at least ${low}, and is set to that.`,
  whole: (/** @type {string} */ name, /** @type {number} */ value) =>
    `${name} is a whole number, and is set to ${value}.`,
};

export const NOTE = {
  dismiss: "dismiss this message",
};

/** Below the text, and in the Planner and Results: a figure with its table. */
export const FIGURE = {
  noPlots: "the plotting script could not be loaded; the table below each plot has the same figures",
  unread: "no value is read yet",
  table: "as a table",
  tableOf: (/** @type {string} */ title) => `${title}, as a table`,
  said: (/** @type {string} */ title, /** @type {string} */ text) =>
    `${title}. ${text} The table below holds the same figures.`,
};

/** The button that leads back to a run of one's own; `how` is one of JOURNEY's. */
export const ASIDE = {
  tip: "shows it again; what is shown now stays in the browser's history",
  back: (/** @type {string} */ how) => `Your run ${how}: return to it`,
};

export const JOURNEY = {
  lost: "What was shown here is no longer stored: generate it or open it again.",
  gone: "The run in progress is no longer on the server.",
  done: "is done",
  goesOn: "is still going",
  begins: "is starting",
};

export const FILES = {
  notCopied: "this browser did not allow copying",
  unreadable: "the file could not be read",
  notSent: (/** @type {number} */ status) =>
    `the server could not send the recording (status ${status}); choose it again`,
  tooLarge: (/** @type {number} */ mb) => `the file is larger than ${mb} MB; no trace of one run is that large`,
};

translate("page", { TITLE, SKIP, TYPED, NOTE, FIGURE, ASIDE, JOURNEY, FILES });
