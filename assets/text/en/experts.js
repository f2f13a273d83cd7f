/** The experts' page of the Planner. */

import { translate } from "../language.js";

/** What stands on the experts' page: a title, and what is inside. @type {Record<string, [string, string]>} */
export const BEHIND = {
  plans: ["The best plan of all levels", "its levels, the best of each number of levels, and why"],
  lengths: ["How long the text is", "what passes take by length, and from where a view of the cache pays"],
  figures: ["Why: the shortest path", "the path through the levels, and where one drafter pays"],
  validation: ["Predicted and measured", "how far off the theory was"],
  whatif: ["What if", "longest block, rejections, one level\u2019s cost, which levels"],
  tables: ["Data", "every cost and acceptance, to be changed"],
  profile: ["Profiles", "other machines and models; open a file, download this one"],
};

export const ANSWER = {
  /** By the number of levels. */
  counts: ["", "one: plain decoding", "two", "three", "four", "five", "six", "seven", "eight"],
  best: "The best plan",
  bestLabel: "the best plan",
  use: "Use this stack",
  play: "Play it (simulated)",
  playTip:
    "plays this plan on the Explore tab: no model runs, each level agrees as often, and takes as long, as the profile says",
  playNeeds: "playing a plan needs the engine; start the program: python app.py",
  depth: "How many levels?",
  depthLabel: "best for each number of levels",
  why: "why",
  /** A name and how it is calculated. */
  ms: ["ms per token", "predicted by the exact recursion; plain decoding beside it"],
  gain: ["plain decoding", "plain decoding's ms per token / this plan's"],
  tokens: [
    "tokens per target pass",
    "expected tokens committed by a pass of the target, correction and bonus included",
  ],
  useTip: "put this stack into the composer of the Explore tab",
  cannotUseTip: "a level of this plan has no weights here, so it can be priced but not run",
  cannotUse: "A level of this plan has no weights here: it can be priced and played (simulated), but not run.",
  engine: "engine",
  engineName: "the engine around the levels",
  share: (/** @type {string} */ name, /** @type {string} */ ms, /** @type {string} */ share) =>
    `${name}: ${ms} ms of each token, ${share} of the time`,
  signs: "approves every token",
  nothing: "nothing",
  slower: (/** @type {string} */ times) => `${times}\u00d7 slower`,
  sharesHead: ["level", "block", "calls per target pass", "ms per token", "without it"],
  depthsHead: ["levels", "best stack", "ms per token", "speed-up"],
  useIt: "use it",
  useShort: "use",
  useOf: (/** @type {string} */ stack) => `use ${stack}`,
  playShort: "play",
  playOf: (/** @type {string} */ stack) => `play ${stack}, simulated`,
  others: "the next best plans",
};

/** The profile as tables. */
export const TABLES = {
  probability: "a probability from 0 to 1",
  cost: "a positive number of ms",
  time: "a number of ms, 0 or more",
  costs: "What each level costs",
  costsText:
    "ms for a pass over that many rows, with sampling and the rule. Between two row counts the cost is interpolated linearly; an empty cell shows that value.",
  accepts: "How often each accepts another's token",
  acceptsText: "Probability that the level of the column accepts a token of the level of the row.",
  interval: (/** @type {string} */ text) => `${text} Below each: its 95 % interval.`,
  edges: "Where a pass costs more or less",
  edgesText:
    "ms for a pass of the upper level over that many rows where the lower level of the pair has already run layers that both share, has a window whose probes are in the same pass, or offers several candidates that the upper level runs branch by branch.",
  assumed: "assumed",
  measured: "measured",
  reset: (/** @type {string} */ to) => `reset to ${to}`,
  resetOf: (/** @type {string} */ table, /** @type {string} */ to) => `${table}: reset to ${to}`,
  level: "level",
  rows: (/** @type {number} */ n) => (n === 1 ? "1 row" : `${n}`),
  draft: "a drafted token",
  hits: "hits",
  beside: "side by side",
  besideOf: (/** @type {string} */ level, /** @type {string} */ tokens) =>
    `${level}: on average ${tokens} tokens at the first, second, ... depth of what it offers; each is a row of the pass above`,
  costOf: (/** @type {string} */ level, /** @type {number} */ n) => `${level}: ms for ${n} ${n === 1 ? "row" : "rows"}`,
  draftOf: (/** @type {string} */ level) => `${level}: ms for a drafted token`,
  hitsOf: (/** @type {string} */ level) => `${level}: share of lookups that find something`,
  engine: "engine, per pass of the target",
  engineOf: "engine: ms outside the levels for each pass of the target",
  acceptanceOf: (/** @type {string} */ level, /** @type {string} */ by, /** @type {boolean} */ given) =>
    `acceptance of ${level} by ${by}${given ? ", given a hit" : ""}`,
  corner: "drafted by \u2193 judged by \u2192",
  pair: "pair",
  pairOf: (/** @type {string} */ pair) => pair.replace("->", " to "),
  intervalOf: (/** @type {string} */ range) => `measured interval ${range}`,
  write: (/** @type {string} */ cell, /** @type {string} */ what) => `${cell}: enter ${what}`,
  isNot: (/** @type {string} */ cell, /** @type {string} */ text, /** @type {string} */ what) =>
    `${cell}: ${text || "this"} is not ${what}`,
};

/** The sliders. */
export const WHATIF = {
  label: "what if",
  measured: "as measured",
  assumed: "as assumed",
  block: "longest block",
  tokens: (/** @type {number} */ n) => `${n} ${n === 1 ? "token" : "tokens"}`,
  rejections: "rejections, all pairs",
  rejectionsTip: "every 1 \u2212 a is multiplied by this",
  rest: "reset",
  restLabel: "reset all sliders and numbers",
  costOf: "cost of",
  costLevel: "the level whose cost is changed",
  levels: "levels that a plan may use",
  targetTip: "the target approves every token; it cannot be left out",
};

translate("experts", { BEHIND, ANSWER, TABLES, WHATIF });
