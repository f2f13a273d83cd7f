/** The legend: what colours mean, and the other marks. */

import { translate } from "../language.js";

export const LEGEND = {
  source: "database, depth or level",
  passed: "highest level that accepted it before the target",
  level: "level that supplied it",
  copied: (/** @type {string} */ name) => `${name}, copied`,
  targets: "the target's own",
  none: "none: straight from the level that supplied it",
  passedAt: (/** @type {string} */ level) => `passed ${level}`,
  under: (/** @type {string} */ ms) => `under ${ms}`,
  between: (/** @type {string} */ from, /** @type {string} */ to) => `${from} to ${to}`,
  over: (/** @type {string} */ ms) => `over ${ms}`,
  time: "ms of the round per token",
  unknown: "not known yet",
  by: (/** @type {string} */ title) => `Colour: ${title}`,
  struck: "rejected draft",
  label: (/** @type {string} */ title) => `Legend: ${title}`,
  marks: "Legend: marks",
  tentative: "not committed yet",
  word: "word",
  rejected: (/** @type {string} */ by) => `rejected by ${by}`,
  more: "two more there",
};

/** One token of the run with its parts named. */
export const SPECIMEN = {
  dot: "dot",
  dots: "dots",
  passed: (/** @type {string[]} */ tags) => `${tags.join(" and ")} accepted it before the target`,
  colour: "colour",
  line: "line",
  letter: (/** @type {string} */ letter) => `letter ${letter}`,
};

translate("legend", { LEGEND, SPECIMEN });
