/** The sentences of the anatomy of a round. */

import { LANGUAGE, translate } from "../language.js";
import { figure } from "../numbers.js";
import { many } from "../many.js";

const count = (/** @type {number} */ n) => Math.round(n).toLocaleString(LANGUAGE);
const NBSP = "\u00a0";
const quoted = (/** @type {string} */ text) => `\u201c${text}\u201d`;

export const SAY = {
  title: (/** @type {number} */ nth, /** @type {number} */ of) => `Anatomy of round ${nth} of ${of}`,
  facts: (/** @type {string} */ tokens, /** @type {string} */ time) => `${tokens} in ${time}`,
  waiting: "not committed yet",
  tokens: (/** @type {number} */ n) => many(n, "token"),
  event: (/** @type {number} */ nth, /** @type {number} */ of) => `event ${nth} of ${of}`,
  keys: "\u2190 \u2192 change the event, \u2191 \u2193 the token, Esc closes",
  open: "Anatomy",
  openTip: "the round under the cursor, step by step (key A)",
  openRound: (/** @type {number} */ round) => `Anatomy of round ${round}`,
  close: "Close the anatomy (Esc)",
  back: "Previous event",
  on: "Next event",
  events: "Events of the round; choose one to go to it",
  picture: "The picture of the round",
  grid: "The round: levels from bottom to top, positions from left to right",
  text: "the text",
  axis: "position",
  position: "position in the text; 0 is the first token after the prompt",
  /** @type {Record<string, string>} what a tile shows */
  states: {
    asked: "being judged",
    accepted: "accepted",
    rejected: "rejected",
    unjudged: "not judged",
    lost: "lost",
    committed: "committed",
    waiting: "waiting",
  },
  drafted: (/** @type {string} */ text, /** @type {string} */ by, /** @type {string} */ state) =>
    `${text}: drafted by ${by}, ${state}`,
  written: (/** @type {string} */ text, /** @type {string} */ by, /** @type {string} */ state) =>
    `${text}: written by ${by}, ${state}`,
  judged: (/** @type {string} */ text, /** @type {string} */ by, /** @type {string} */ state) =>
    `${text}: ${state} by ${by}`,
  none: "No round has begun yet at this moment.",
  found: "found nothing",
  empty: "no call yet",
  rowTip: (/** @type {string} */ tag, /** @type {string} */ rows) =>
    `${tag}\u2019s row at this position, its most likely tokens as bars: ${rows}. Raw softmax at temperature 1.`,
  choose: "Tokens of the round; \u2191 and \u2193 choose one",
};

export const QUOTED = {
  /** @param {string} text a token as it is shown */
  token: (text) => quoted(text.replace(/^\u00b7(?=.)/, "")),
};

/** What an event was, from its counts. */
export const EVENT = {
  none: (/** @type {string} */ tag) => `${tag} found nothing to hand up.`,
  drafts: (/** @type {string} */ tag, /** @type {string[]} */ texts, /** @type {boolean} */ copies) =>
    texts.length
      ? `${tag} ${copies ? "proposes" : "drafts"} ${many(texts.length, "token")}: ${list(texts)}.`
      : `${tag} found nothing to hand up.`,
  begins: "The round begins.",
  verifies: (
    /** @type {string} */ tag,
    /** @type {{below: string, kept: string[], rejected: string[], rest: number, own: string|null, how: string}} */ x,
  ) => {
    if (!x.kept.length && !x.rejected.length)
      return x.own ? `${tag} was handed nothing, so it writes ${x.own} itself.` : `${tag} was handed nothing.`;
    const total = x.kept.length + x.rejected.length + x.rest;
    const whole = !x.rejected.length && !x.rest;
    const kept = whole
      ? total === 1
        ? `${tag} keeps ${x.kept[0]}`
        : `${tag} keeps all ${total}`
      : x.kept.length
        ? `${tag} keeps ${x.kept.length} of ${total}`
        : `${tag} keeps none of ${total}`;
    const lost = x.rejected.length ? `, rejects ${list(x.rejected)}` : "";
    const after = x.rest ? ` (${x.rest} not judged)` : "";
    const own = x.own ? `, and writes ${x.own} ${x.how === "bonus" ? "as a bonus" : "instead"}` : "";
    return `${kept}${lost}${after}${own}.`;
  },
  commits: (/** @type {number} */ n) =>
    `${many(n, "token")} committed: ${n === 1 ? "it is" : "they are"} part of the text now.`,
  plan: "The run changed its plan of levels.",
  rows: (/** @type {number} */ n, /** @type {number} */ behind, /** @type {number} */ probes) => {
    const parts = [behind && `${behind} only to catch up`, probes && `${probes} for the window ahead`].filter(Boolean);
    return many(n, "row") + (parts.length ? ` (${parts.join(", ")})` : "");
  },
};

function list(/** @type {string[]} */ texts) {
  return texts.length > 4 ? `${texts.slice(0, 4).join(" ")} and ${texts.length - 4} more` : texts.join(" ");
}

export const KV = {
  name: "KV",
  of: (/** @type {string} */ name) => `Keys and values of ${name}.`,
  before: "Before the round:",
  now: "Now:",
  unknown: "not recorded",
  lengths: (/** @type {{cached: number, catch_up: number, committed: number, held: number}} */ x) =>
    `${x.cached} positions cached, ${x.catch_up} still to read; the context is ${x.committed} committed and ${x.held} held`,
  formula: "cached + still to read = committed + held, including the prompt.",
  none: "no cache",
  waits: (/** @type {number} */ n) => `${n} to read`,
};

/** What each level sees of the text's keys and values. */
export const HELD = {
  title: "What each level sees of the keys and values",
  /** @type {Record<string, string>} */
  kinds: { whole: "all", sink: "first", chosen: "chosen", recent: "recent", since: "since the prompt" },
  short: (/** @type {number} */ sees, /** @type {number} */ of) => `${count(sees)} of ${count(of)}`,
  sees: (
    /** @type {string} */ name,
    /** @type {{sees: number, total: number, parts: {kind: string, count: number}[], heads: number, borrows: boolean}} */ x,
  ) => {
    const parts = x.parts.map((part) => `${count(part.count)} ${HELD.kinds[part.kind]}`).join(", ");
    const whole = x.sees >= x.total;
    const what = whole
      ? `all ${count(x.total)} positions`
      : `${count(x.sees)} of ${count(x.total)} positions: ${parts}`;
    const each = !whole && x.heads > 1 ? `. Each of ${x.heads} heads chose its own; a paler cell is seen by fewer` : "";
    return `${name} sees ${what}${each}${x.borrows ? ", and the target\u2019s last layer of all that is verified" : ""}.`;
  },
};

export const LAYERS = {
  runs: (/** @type {string} */ text, /** @type {number} */ lo) =>
    `The last call ran ${text}${lo > 0 ? `. The results of layers 0\u2013${lo - 1} are reused for rows that a level below has read` : ""}.`,
};

export const ACT = {
  label: "The chosen token",
  by: "judged by",
  position: (/** @type {number} */ at) => `position ${at}`,
  supplied: (/** @type {string} */ name, /** @type {string} */ how) => `${how} by ${name}`,
  how: /** @type {Record<string, string>} */ ({ draft: "drafted", correct: "correction", bonus: "bonus" }),
  unjudged: "No verifier has judged it yet.",
  behind: "Not judged: a token before it was rejected.",
  norows: "The trace of this run keeps no probability rows.",
  token: "token",
  others: "all others",
  /** @type {Record<"q"|"named"|"p"|"both"|"rest", {name: string, tip: (level: string) => string}>} */
  columns: {
    q: {
      name: "q",
      tip: (name) =>
        `q: the distribution of ${name}, from which the draft was drawn, after temperature, top-k and top-p`,
    },
    named: { name: "q", tip: (name) => `q: ${name} names a token without a distribution, so all of q lies on it` },
    p: {
      name: "p",
      tip: (name) => `p: the distribution of ${name} at this position, after temperature, top-k and top-p`,
    },
    both: {
      name: "min(p, q)",
      tip: () =>
        "what the two distributions share: a draft is kept with min(1, p / q), so a token is drafted and kept with q \u00b7 min(1, p / q) = min(p, q)",
    },
    rest: {
      name: "residual",
      tip: () =>
        "norm(max(p \u2212 q, 0)): what p has beyond q, scaled to sum 1. A rejected draft is replaced by a draw from it, so every token comes out with min(p, q) and the rest, which is p",
    },
  },
  sum: (/** @type {number} */ kept) => `sum of min(p, q) = ${figure(kept)}: this is how often a draft is kept here`,
  onlySum: (/** @type {number} */ kept) =>
    `sum of min(p, q) = ${figure(kept)}: this is how often a draft is kept here, and no exact rule could keep one more often`,
  bound: (/** @type {number|null} */ rule, /** @type {number} */ best) =>
    rule === null
      ? `No exact rule could keep a candidate here with a probability above ${figure(best)}.`
      : figure(rule) === figure(best)
        ? `This rule keeps a candidate here with probability ${figure(rule)}; no exact rule could do better.`
        : `This rule keeps a candidate here with probability ${figure(rule)}; no exact rule could do better than ${figure(best)}.`,
  boundTip:
    "over all candidates that might have been offered here. The maximum is 1 + the minimum of p(H) \u2212 Q(H) over sets H of tokens, Q(H) being the probability that all candidates lie in H (optimal multi-draft decoding)",
  sumTip:
    "the sum of min(p, q) over all tokens, 1 \u2212 total variation of p and q. Tokens beyond the recorded head count as one",
  coin: (/** @type {string} */ u, /** @type {string} */ sign, /** @type {string} */ a, /** @type {string} */ out) =>
    `coin ${u} ${sign} \u03b1 ${a}: ${out}`,
  certain: (/** @type {string} */ a, /** @type {string} */ out) => `\u03b1 = ${a}: ${out}, no coin needed`,
  longer: (/** @type {string} */ a) => `\u03b1 = ${a}; a longer prefix was kept, so no coin was thrown here`,
  alphaTip: (/** @type {string} */ p, /** @type {string} */ q, /** @type {string} */ a) =>
    `\u03b1 = min(1, p / q) = min(1, ${p} / ${q}) = ${a}. The coin is uniform between 0 and 1; below \u03b1 the draft is kept`,
  laterTip: (/** @type {string} */ a) =>
    `\u03b1 = min(1, p / q) = ${a}, where p is what the earlier candidates left, norm(max(p \u2212 q, 0)) after each, and q the distribution that this one was drawn from. The coin is uniform between 0 and 1; below \u03b1 the draft is kept`,
  again: (/** @type {number} */ n) =>
    `Drawn ${n} times, with replacement. Its first draw is judged; once that is rejected, no probability is left on this token, so the others are rejected too.`,
  blockTip: (/** @type {string} */ a) =>
    `rule block: \u03b1 is h = ${a}, the probability that the block is kept up to here; it weighs the whole prefix, not this token alone`,
  /** @type {Record<string, (a: string) => string>} rule match, by outcome */
  matched: {
    accepted: (a) => `\u03b1 = p = ${a}; a token was drawn from p, and it is this one`,
    rejected: (a) => `\u03b1 = p = ${a}; a token was drawn from p, and it is another one`,
  },
  matchTip: (/** @type {string} */ a) =>
    `rule match: a token is drawn from p, and the draft is kept if it is the same, which is so with probability ${a}; q does not matter`,
  drawnOwn: (/** @type {string} */ text) => `${text} was drawn from p and takes this place.`,
  block: "Rule block: \u03b1 weighs the whole prefix, and the residual is norm(max(w p \u2212 q, 0)).",
  accepted: "kept",
  rejected: "rejected",
  drawn: (/** @type {string} */ text, /** @type {number|null} */ share) =>
    `${text} is drawn from the residual${share === null ? "" : ` (${figure(share)} of it)`} and takes this place.`,
  kept: (/** @type {string} */ text) => `${text} stays; no residual is needed.`,
  hypothetical: "residual: had the draft been rejected",
  bonus: (/** @type {string} */ name, /** @type {number} */ p) =>
    `All drafts before it were kept, so ${name} draws one more from its own row: p ${figure(p)}.`,
  alone: (/** @type {string} */ name, /** @type {number} */ p) =>
    `There was no draft to check: ${name} draws from its own row, p ${figure(p)}.`,
  estimate:
    "\u2248: a row\u2019s tail is not recorded token by token; these distributions are estimated from its head.",
  exact:
    "Distributions rebuilt from the recorded rows and the p and q in the trace; \u201call others\u201d is one symbol.",
  copied: (/** @type {string} */ where) => `copied from ${where}: `,
  why: (/** @type {number} */ alike) => `the ${many(alike, "token")} before it the same`,
};

/** Greedy: no coin; the top choice against the drafted token. */
export const GREEDY = {
  raw: "raw",
  p: (/** @type {string} */ name) =>
    `p: raw softmax of ${name} at temperature 1; the run is greedy, so only the top choice counts`,
  q: (/** @type {string} */ name) => `q: raw softmax of ${name} at temperature 1; its top choice is the draft`,
  same: (/** @type {string} */ tag, /** @type {string} */ text, /** @type {string} */ p) =>
    `${tag}\u2019s top choice is ${text} too (${p}): kept. No coin: greedy decoding is all or nothing.`,
  against: (
    /** @type {string} */ tag,
    /** @type {string} */ top,
    /** @type {string} */ p,
    /** @type {string} */ text,
    /** @type {string} */ mine,
  ) => `${tag}\u2019s top choice is ${top} (${p}); the draft ${text} has ${mine}`,
  rejected: "rejected.",
  byRule: "kept by the rule of this level.",
  own: (/** @type {string} */ tag, /** @type {string} */ text, /** @type {string} */ p) =>
    `${tag} writes its own top choice, ${text} (${p}).`,
  writes: (/** @type {string} */ tag) => `${tag} writes its own top choice.`,
  sibling: "Another candidate for this place is judged next.",
  held: (/** @type {number} */ n, /** @type {string} */ tag) =>
    `One of the ${n} candidates is ${tag}\u2019s top choice, so every exact rule keeps it.`,
  missed: (/** @type {number} */ n, /** @type {string} */ tag) =>
    `None of the ${n} candidates is ${tag}\u2019s top choice, so no exact rule could have kept one.`,
  drafts: (/** @type {string} */ tag, /** @type {string} */ text, /** @type {string} */ p) =>
    `${tag} drafts its own top choice, ${text} (${p}).`,
  names: (/** @type {string} */ tag) => `${tag} looks tokens up: it names one and has no other choices.`,
  certain: (/** @type {string} */ tag) =>
    `${tag} hands this token up as certain (q = 1): the trace has no other choices for it.`,
  beyond: "a smaller share than the trace keeps",
  rest: (/** @type {string} */ p) => `all others together ${p}`,
  margin: (/** @type {string} */ m) => `margin to the second choice ${m}${NBSP}logits`,
  marginTip: "ln(p of the first choice / p of the second) = the difference of their logits",
};

translate("anatomy", { SAY, QUOTED, EVENT, KV, HELD, LAYERS, ACT, GREEDY });
