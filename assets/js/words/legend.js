/** The legend: what colours say, and what is drawn besides them. */

export const LEGEND = {
  source: "database, depth or level",
  passed: "highest level that accepted it before the target",
  level: "level that supplied it",
  copied: (/** @type {string} */ name) => `${name}, copied`,
  targets: "the target's own",
  none: "none: straight from who supplied it",
  passedAt: (/** @type {string} */ level) => `passed ${level}`,
  under: (/** @type {string} */ ms) => `under ${ms}`,
  between: (/** @type {string} */ from, /** @type {string} */ to) => `${from} to ${to}`,
  over: (/** @type {string} */ ms) => `over ${ms}`,
  time: "ms of the round for each of its tokens",
  unknown: "not known yet",
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
  passed: (/** @type {string[]} */ tags) => `${tags.join(" and ")} let it pass before the target`,
  colour: "colour",
  line: "line",
  letter: (/** @type {string} */ letter) => `letter ${letter}`,
};
