/** The token card. */

import { translate } from "../language.js";

const NBSP = "\u00a0";
const ordinal = (/** @type {number} */ n) => `${n}${["th", "st", "nd", "rd"][n > 3 ? 0 : n]}`; // rows hold fewer than 21

export const CARD = {
  label: "Token card",
  close: "Close the card",
  greedy: "Greedy: a level\u2019s top choice = 1, all others = 0;",
  sampled: "p, q and \u03b1 are from the distributions that were used;",
  bars: (/** @type {string} */ laws) => `${laws} the bars are the raw softmax at temperature 1.`,
  click: " Click the token for every verifier\u2019s rows.",
  /** @type {Record<string, string>} */
  states: { committed: "committed", tentative: "not committed yet", gone: "not in the text", future: "" },
  /** @type {Record<string, string>} */
  how: { draft: "drafted", correct: "correction", bonus: "bonus" },
  itself: "The target drew it itself: nothing needs to check it.",
  unasked: (/** @type {string} */ other) => `Not judged: ${other} was kept in its place, or before it.`,
  unjudged: "No verifier has judged it yet.",
  lost: "Lost with a rejected token before it, without being judged.",
  supplied: "supplied by",
  draftedAt: "drafted at",
  drawnAt: "drawn at",
  id: "id",
  position: "position",
  round: "round",
  roundIs: (/** @type {number} */ nth, /** @type {string} */ ms, /** @type {string|null} */ perToken) =>
    `${nth}, ${ms}${NBSP}ms${perToken === null ? "" : `, ${perToken}${NBSP}ms a token`}`,
  chosen: "chosen",
  drawnWith: "drawn with p",
  drawn: "drawn",
  times: (/** @type {number} */ n) => `${n} times, with replacement`,
  copied: "copied from",
  copiedWhy: (/** @type {number} */ alike, /** @type {number} */ share) =>
    `${alike}${NBSP}token${alike === 1 ? "" : "s"} before it match${alike === 1 ? "es" : ""}${share >= 1 ? "" : `, ${Math.floor(1000 * share) / 10}${NBSP}% of its q`}`,
  /** @type {Record<string, string>} what became of a candidate */
  fates: { waiting: "waiting", kept: "kept", rejected: "rejected", lost: "not judged", unasked: "not judged" },
  offered: (/** @type {string} */ by) => `offered for this place, in the order in which ${by} judges them`,
};

/** What one verifier thought of a token. */
export const VERDICT = {
  /** @type {Record<string, string>} */
  outcomes: { accepted: "accepted", rejected: "rejected", unjudged: "not judged", spared: "spared" },
  whose: (/** @type {string} */ tag) => `${tag}\u2019s`,
  notKept: (/** @type {string} */ whose) => `${whose} choices were not recorded in this trace`,
  top: (/** @type {string} */ whose, /** @type {string} */ p) => `${whose} top choice (${p})`,
  among: (/** @type {string} */ whose, /** @type {number} */ most) => `not among ${whose} ${most} most likely`,
  nth: (/** @type {string} */ whose, /** @type {number} */ nth, /** @type {string} */ p) =>
    `${whose} ${ordinal(nth)} choice (${p})`,
  instead: (/** @type {string} */ own, /** @type {string} */ top, /** @type {string} */ p) =>
    `${own}; its top choice is \u201c${top}\u201d (${p})`,
  block: "Rule block: \u03b1 is h, the probability that the block is kept up to here.",
  residual: "residual",
  certain: (/** @type {string} */ outcome) => `certain: ${outcome}, no coin needed`,
  prefix: "kept with a longer prefix (rule block), no coin needed",
  /** @type {Record<string, string>} rule match, by outcome */
  matched: {
    accepted: "a token was drawn from p, and this is the one: kept",
    rejected: "a token was drawn from p, and it is another one: rejected",
  },
  coin: (
    /** @type {string} */ u,
    /** @type {string} */ sign,
    /** @type {string} */ alpha,
    /** @type {string} */ outcome,
  ) => `u ${u} ${sign} \u03b1 ${alpha}: ${outcome}`,
  likeliest: (/** @type {string} */ law) => `${law}: most likely tokens`,
  oneHot: (/** @type {string} */ law) => `${law}, one-hot`,
  others: "others",
};

translate("card", { CARD, VERDICT });
