/** What the page says of blanks. */

import { translate } from "../../../text/language.js";

export const BLOCK = {
  label: (/** @type {number} */ n) => `Block ${n}, its cells from left to right`,
  legend: "The small number is the pass that filled a cell; cells of the last pass are darker.",
  cell: (/** @type {number} */ cell, /** @type {number|null} */ pass) =>
    pass === null ? `cell ${cell}: blank` : pass ? `cell ${cell}, pass ${pass}` : `cell ${cell}, given`,
};

/** A run's block, pass by pass. */
export const PASSES = {
  label: "A block of blanks, pass by pass",
  slider: "after pass",
  says: (/** @type {number} */ pass, /** @type {number} */ filled, /** @type {number} */ canvases) =>
    `${pass} passes, ${filled} cells${canvases > 1 ? `. The last pass computed ${canvases} states of the block` : ""}.`,
};

/** How far a way to fill is from the language's law. */
export const LAW = {
  label: "How far from the right law, by R and by cells of a pass",
  r: { label: "R", text: (/** @type {number} */ v) => String(v) },
  most: { label: "cells of a pass", text: (/** @type {number} */ v) => String(v) },
  across: "cells kept per pass",
  up: "distance to the right law",
  says: (/** @type {string} */ kept, /** @type {string} */ apart) =>
    `${kept} cells per pass; ${apart} of the probability is on wrong texts. Computed here over all 1,024 texts of a language of four words, nothing is drawn.`,
};

/** What states ahead gain, by machine. */
export const PRICES = {
  label: "What states ahead gain, by machine",
  here: "two CPU cores",
  times: (/** @type {string} */ gain) => `${gain}\u00d7`,
  says: (/** @type {string} */ steps, /** @type {string} */ states) =>
    `Simulated: ${steps} steps and ${states} states per pass are counted in this run; the time of a pass, 16 rows for each state, is that of a SmolLM2 on two cores, or computed for other machines.`,
};

/** COrAL's passes over a block. */
export const REWRITES = {
  label: "A block that is rewritten until it stands still",
  slider: "draft",
  pass: "pass",
  says: (
    /** @type {number} */ passes,
    /** @type {number} */ kept,
    /** @type {number} */ of,
    /** @type {boolean} */ swings,
  ) =>
    `${swings ? `It swings between drafts, and was taken as it stood after ${passes} passes` : `It stood still after ${passes} passes`}; the reader kept ${kept} of ${of}. Coloured: what a pass changed.`,
};

translate("systems/canvas", { BLOCK, PASSES, LAW, PRICES, REWRITES });
