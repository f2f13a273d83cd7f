/** What the pictures of lessons say. */

import { LANGUAGE, translate } from "../language.js";
import { millis } from "../numbers.js";

/** A picture that belongs to a system which is not there. */
export const MISSING = {
  label: "A picture that is not here",
  text: (/** @type {string} */ kind) =>
    `This step has a picture (\u201c${kind}\u201d) that belongs to a system which is not installed here. The text beside it holds without it.`,
};

/** Of a moment of a recorded run. */
export const MOVING = {
  label: (/** @type {string} */ kind) =>
    ({
      text: "The text of a recorded run",
      round: "A round of a recorded run",
      lanes: "What each level did, and when",
      roll: "The calls of a recorded round",
    })[kind] ?? "",
  play: "Play",
  back: "One event back",
  on: "One event on",
};

const listed = (/** @type {string[]} */ parts) => parts.join(", ");

export const CHART = {
  ms: millis,
  passes: "Tokens that each pass of the target committed",
  pass: (/** @type {number} */ n, /** @type {number} */ tokens) => `pass ${n}: ${tokens}`,
  mean: (/** @type {string} */ mean) => `mean ${mean}`,
  firstPasses: (/** @type {string} */ first) =>
    `The first passes committed ${first}; the others are hidden until you have answered.`,
  allPasses: (/** @type {number} */ passes, /** @type {number} */ tokens, /** @type {string} */ mean) =>
    `${passes} passes committed ${tokens} tokens: ${mean} a pass on average. A column is one pass.`,
  byRows: "Time of a pass of the target, by its rows",
  rows: (/** @type {number} */ n) => (n === 1 ? "1 row" : `${n} rows`),
  median: (/** @type {number} */ count) => `median of ${count}`,
  oneRow: (/** @type {string} */ ms) => `A pass over one row takes ${ms}.`,
  someRows: (/** @type {[number, string][]} */ rows) =>
    `Medians of this run: ${listed(rows.map(([n, ms]) => `${ms} for ${n}`))} rows.`,
  costs: "What a token of the text costs",
  thisStack: "this stack",
  plain: "plain decoding",
  engine: "the engine around the levels",
  costsSaid: (/** @type {[string, string][]} */ parts, /** @type {string} */ rest) =>
    `Time for one token of the text, by level: ${listed(parts.map(([tag, ms]) => `${tag} ${ms}`))}; around them ${rest}.`,
  gains: "Speed over plain decoding",
  one: "The line at 1 is plain decoding of the same target. A bar is the 95 % interval over prompts.",
  alone: "this run alone: no interval",
  interval: (/** @type {string} */ low, /** @type {string} */ high) => `${low} to ${high}`,
  gainSaid: (/** @type {{stack: string, text: string, ends: [string, string], alone: boolean}} */ x) =>
    x.alone
      ? `${x.stack} was ${x.text} times as fast as plain decoding in one run.`
      : `${x.stack} is ${x.text} times as fast as plain decoding (${CHART.interval(x.ends[0], x.ends[1])}).`,
};

const percent = (/** @type {number} */ v) => `${Math.round(100 * v)}\u00a0%`;

/** Acceptance, block length, and what a guess costs. */
export const YIELDS = {
  label: "Tokens a pass and speed, by block length",
  a: { label: "acceptance a", text: (/** @type {number} */ v) => v.toFixed(2) },
  n: { label: "guesses n", text: (/** @type {number} */ v) => String(v) },
  c: { label: "cost of a guess, in passes", text: (/** @type {number} */ v) => v.toFixed(2) },
  key: {
    bar: "chance that a pass gets so far",
    tokens: "tokens a pass",
    ceiling: "their limit, 1 / (1 \u2212 a)",
    speed: "speed over plain decoding",
  },
  best: (/** @type {number} */ n) => `best n: ${n}`,
  open: (/** @type {string} */ a, /** @type {number} */ n) =>
    `The first token of a pass is certain; each further one comes with a = ${a} times the chance of the one before, up to n = ${n}. The yield is the sum of the bars.`,
  says: (
    /** @type {{a: string, n: number, c: number, tokens: string, ceiling: string, speed: string, best: number, bestSpeed: string}} */ x,
  ) =>
    `With a = ${x.a} and n = ${x.n} a pass commits ${x.tokens} tokens; no length gives more than ${x.ceiling}. If a guess costs ${x.c.toFixed(2)} of a pass that is ${x.speed} times plain decoding; ${
      x.best ? `best is n = ${x.best}: ${x.bestSpeed} times.` : "no length pays."
    }`,
};

/** A coin tossed over one place of the text. */
export const COIN = {
  label: "Distributions of one place, and what comes out of many tosses",
  columns: {
    q: { name: "q", tip: "the distribution that the draft was drawn from" },
    p: { name: "p", tip: "the distribution of the level that verifies" },
    both: { name: "kept", tip: "min(p, q): drafts that are kept" },
    rest: { name: "residual", tip: "max(p \u2212 q, 0), scaled to sum to 1" },
    exact: { name: "exact", tip: "the distribution of what comes out, calculated" },
    out: { name: "tossed", tip: "the share of each token among your tosses" },
  },
  /** A distribution by the letter of its level. */
  of: (/** @type {string} */ tag, /** @type {string} */ law) => `${law} of ${tag}`,
  once: "Toss once",
  many: (/** @type {number} */ n) => `Toss ${n.toLocaleString(LANGUAGE)} times`,
  again: "Start again",
  share: "distance of the draft from p",
  wrong: "replace from p (wrong)",
  open: "A draft is drawn from q. It is kept with probability min(1, p/q).",
  says: (/** @type {{all: number, kept: number, share: number, far: number, wrong: boolean}} */ x) =>
    `${x.all ? `${x.all.toLocaleString(LANGUAGE)} ${x.all === 1 ? "toss" : "tosses"}: ${percent(x.kept)} of the drafts were kept (exact: ${percent(x.share)}); the largest distance from p is ${x.far.toFixed(3)}.` : `${percent(x.share)} of the drafts are kept. Toss the coin, and compare with p.`}${
      x.wrong ? " Replaced from p, what the draft likes comes too often, however often you toss." : ""
    }`,
};

/** The recursion as a roll of calls. */
export const ROLL = {
  label: "Who calls whom in this round",
  ask: (/** @type {{count: number, below: string}} */ x) =>
    `asks ${x.below} for ${x.count} ${x.count === 1 ? "token" : "tokens"}`,
  draft: (/** @type {{count: number}} */ x) =>
    x.count ? `offers ${x.count} ${x.count === 1 ? "token" : "tokens"}` : "finds nothing to offer",
  verify: (/** @type {{count: number, kept: number, own: boolean, held: number}} */ x) =>
    `${x.count ? `keeps ${x.kept} of ${x.count}` : "gets nothing"}${x.own ? `${x.count ? ", " : "; "}writes 1 of its own` : ""}: holds ${x.held}`,
  up: (/** @type {{count: number, above: string}} */ x) => `hands up ${x.count} to ${x.above}`,
};

/** The shortest path as a small graph. */
export const HOPS = {
  label: "The cheapest path over levels and block lengths",
  levels: ["lookup", "8-bit copy", "target"],
  ms: (/** @type {number} */ v) => CHART.ms(v),
  sliders: {
    lookup: "a lookup costs",
    copy: "a pass of the copy costs",
    "lookup-copy": "copy accepts lookups",
    "lookup-target": "target accepts lookups",
    "copy-target": "target accepts the copy",
  },
  open: "A circle is a level with its block length. A path from the bottom to the target is a stack; the figures are hidden until you have answered.",
  says: (/** @type {{path: string[], ms: string, gain: string, plain: string}} */ x) =>
    x.path.length > 1
      ? `The shortest path is ${x.path.join(" \u2192 ")}: ${x.ms} a token, ${x.gain} times as fast as the target alone (${x.plain}).`
      : `The target alone is fastest: ${x.plain} a token.`,
};

translate("pictures", { MISSING, MOVING, CHART, YIELDS, COIN, ROLL, HOPS });
