/** The sentences of the proof. */

import { translate } from "../language.js";
import { figure } from "../numbers.js";

export const PROOF = {
  open: "proof",
  openTip: "see the exactness: token by token beside plain decoding, or one position drawn 1,000 times",
  title: "Is it the same text?",
  sampledTitle: "Does it draw from the same distribution?",
  close: "Close the proof (Esc)",
  simulated: "This run is simulated: every level writes the same passage, so there is nothing to prove.",
};

export const LINES = {
  label: "Plain decoding above, the stack below, token by token",
  plain: "plain",
  stack: "stack",
  all: (/** @type {number} */ n) => `All ${n} tokens are the ones that plain decoding wrote.`,
  diverges: (/** @type {number} */ n, /** @type {number} */ of, /** @type {string} */ margin) =>
    `The first ${n} of ${of} tokens are plain decoding\u2019s; then they differ, where the target\u2019s two best choices were ${margin} logits apart.`,
  shorter: (/** @type {number} */ n) => `The first ${n} tokens are the same; one of the two texts ends there.`,
  unknown: "not recorded",
  why: "Why this must be so: every level hands up guesses, and the target keeps only those that are its own top choice; where a guess is not, the target writes its own choice.",
  wrong:
    "That is no near tie: this target\u2019s rows change with what is computed beside them, so here the stack did not keep its text.",
  tie: "A pass over several rows may round its last bits differently from a pass over one row: where the margin is nearly 0, either token may win. The smallest margins are marked.",
  notRecorded: (/** @type {number} */ n) =>
    `This older trace does not record plain decoding\u2019s ids one by one: it says only that the first ${n} agree, and the upper line repeats those. Margins come from the target\u2019s own passes in the stack.`,
  ids: "Both lines are recorded ids; margins come from plain decoding\u2019s rows.",
  unmeasured:
    "Plain decoding was not run beside this run, so there is nothing to compare. Tick \u201cmeasure plain decoding too\u201d in the settings and generate again.",
  itself: "This run is plain decoding.",
  pending: "Plain decoding runs after the stack; the comparison appears here when both are done.",
  margins: "smallest margins",
  marginTip: "ln(p of the first choice / p of the second), in logits: what it would take to change the choice",
  marked: (/** @type {number} */ at, /** @type {string} */ margin, /** @type {string} */ by) =>
    `position ${at}: margin ${margin} logits, ${by === "plain" ? "plain decoding\u2019s row" : "the target\u2019s row in this run"}`,
  lossy: (/** @type {string} */ why) =>
    `This stack is not exact: ${why}. Where it differs from plain decoding, rounding is not the reason.`,
};

export const DRAWS = {
  others: "all others",
  label: "One position, drawn again and again",
  drawn: "drawn here, in the browser, from the rows that the run recorded",
  again: "Draw 1,000 times",
  one: "Draw once",
  clear: "Start again",
  position: "position",
  before: "position before",
  after: "next position",
  verifier: "judged by",
  norows: "The trace of this run keeps no probability rows, so nothing can be drawn from it.",
  nothing: "No drafted token of this run was judged with the rows of both distributions.",
  intro: (/** @type {string} */ drafter, /** @type {string} */ verifier) =>
    `Draft from ${drafter}\u2019s distribution q, keep with min(1, p / q), else draw from the residual: p is ${verifier}\u2019s distribution.`,
  named: (/** @type {string} */ drafter, /** @type {string} */ verifier) =>
    `${drafter} names one token (all of q lies on it); keep it with probability p, else draw from the residual. p is ${verifier}\u2019s distribution.`,
  /** @type {Record<"right"|"resample"|"looks", {name: string, tip: string}>} */
  rules: {
    right: {
      name: "the rule, token by token",
      tip: "draft from q; keep with min(1, p / q); else draw from norm(max(p \u2212 q, 0))",
    },
    resample: {
      name: "wrong: corrects from p",
      tip: "the same, but a rejected draft is replaced by a draw from p, so what the draft could have been is counted twice",
    },
    looks: {
      name: "wrong: a policy that looks",
      tip: "it draws until it sees a token that would be kept, and stops there: tokens that only p has never come out",
    },
  },
  fills: (/** @type {number} */ tv) => `tends to a distribution at distance ${figure(tv)} from p`,
  exact: "tends to p: distance 0",
  off: (/** @type {string} */ tv) => `${tv} from p`,
  offTip:
    "total variation: half the sum of |share \u2212 p| over all symbols; 0: the same distribution; 1: nothing in common",
  chance: (/** @type {string} */ tv, /** @type {string} */ n) => `${n} draws from p itself would be about ${tv} away`,
  chanceTip:
    "half the sum of sqrt(2 p (1 \u2212 p) / (\u03c0 n)): the expected total variation by chance alone. The whiskers are one standard error, sqrt(p (1 \u2212 p) / n)",
  kept: (/** @type {number} */ kept, /** @type {number} */ n, /** @type {number} */ share) =>
    `${kept} of ${n} drafts kept; sum of min(p, q) = ${figure(share)}`,
  last: (/** @type {{drafted: string, coin: string, alpha: string, kept: boolean, out: string}} */ x) =>
    x.kept
      ? `drafted ${x.drafted}; coin ${x.coin} < \u03b1 ${x.alpha}: kept`
      : `drafted ${x.drafted}; coin ${x.coin} \u2265 \u03b1 ${x.alpha}: rejected; the residual gives ${x.out}`,
  close:
    "Distributions rebuilt from the recorded rows, the run\u2019s temperature, top-k and top-p; they agree with every p, q and \u03b1 in the trace.",
  estimate: "\u2248: the trace does not record this row\u2019s tail; these distributions are estimated from its head.",
  symbols: "Tokens beyond a row\u2019s recorded head are one symbol, \u201call others\u201d.",
  block:
    "In the run this level uses rule block, which weighs whole blocks; for a block of one token, as here, it is the same as token by token.",
  same: "Here q equals p: no draft is rejected, so every rule is right.",
  legend: "Bar: share drawn. Line: p, with one standard error.",
};

translate("proof", { PROOF, LINES, DRAWS });
