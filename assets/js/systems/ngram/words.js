/** The sentences of the databases' view, and of a lesson's picture of a lookup. */

import { translate } from "../../../text/language.js";
import { count, fixed } from "../../../text/numbers.js";

const many = (/** @type {number} */ n, /** @type {string} */ word, more = `${word}s`) =>
  `${count(n)} ${n === 1 ? word : more}`;

export const DB = {
  open: "Databases",
  openTip: "what was looked up, which database answered, and how much is kept (key D)",
  help: "the databases of lookups: which one answered, what was found where, what is kept; \u2190 \u2192 change the event",
  title: "Databases of the lookups",
  close: "Close the databases (Esc)",
  keys: "\u2190 \u2192 change the event, Esc closes",
  back: "Previous event",
  on: "Next event",
  round: (/** @type {number} */ nth, /** @type {number} */ of) => (nth ? `round ${nth} of ${of}` : "before round 1"),
  none: "This stack looks nothing up, so there are no databases to see.",
  cure: "Add \u201cn-gram lookup\u201d in the tower as the lowest level and press Generate, or open a recording whose levels have an N.",
  simulated: "This run is simulated: lookups hit as often as a profile says, and no database was asked.",
};

export const SHARES = {
  caption: "What supplied the text so far, in the order of lookup",
  database: "database",
  answered: "answers",
  answeredTip: "lookups that it answered",
  kept: "kept / offered",
  keptTip: "its tokens that became part of the text / all that it offered, up to this moment",
  share: "share of the text",
  others: "written by models",
  silent: "none knew",
  silentOf: (/** @type {number} */ n) => `${count(n)} lookups`,
  ratio: (/** @type {number} */ kept, /** @type {number} */ offered) => `${count(kept)} / ${count(offered)}`,
  percent: (/** @type {number} */ part) => `${fixed(100 * part, part > 0 && part < 0.0995 ? 1 : 0)}%`,
};

/** A lookup, step by step. */
export const LOOKUPS = {
  caption: "The last lookups, newest first",
  round: "round",
  to: (/** @type {number} */ round) => `Go to this lookup, in round ${round}`,
  key: "key",
  who: "by",
  followed: "what followed",
  fate: "kept",
  unknownKey: "\u2026",
  silent: (/** @type {string} */ asked, /** @type {number} */ count) =>
    count === 1 ? `${asked}: no answer` : `${asked}: no answer to ${count} lookups`,
  passed: (/** @type {string} */ letters) => `${letters} silent`,
  of: (/** @type {number} */ kept, /** @type {number} */ all) => `${kept} of ${all}`,
  waits: "not judged yet",
  unjudged: "not judged",
  fateTip: (/** @type {{kept: number, rejected: number, lost: number, committed: number}} */ x) =>
    `${x.kept} kept by the level above, ${x.rejected} rejected, ${x.lost} not judged; ${x.committed} are part of the text`,
  empty: "No lookup yet.",
};

export const ENTRIES = {
  title: (/** @type {number} */ held) => `D_c, the context: ${many(held, "entry", "entries")}`,
  tip: "Which tokens followed which keys in the prompt and the text. Each token gives one entry per key length.",
  evicted: (/** @type {number} */ n, /** @type {number} */ kept) =>
    `${count(n)} evicted: a key keeps its ${kept} latest continuations`,
  hit: (/** @type {string} */ where) => `Found in ${where}: `,
  prompt: "the prompt",
  text: "the text",
  behind: (/** @type {number} */ key) => `after the same ${many(key, "token")}`,
  show: "Show it in the text",
  noHit: (/** @type {string} */ letter) => `The last answer came from ${letter}, not from the context.`,
  noAnswer: "The last lookup found nothing.",
  notAsked: "This stack does not ask the context (c).",
  list: "Last used entries, newest first",
  lengths: (/** @type {number[]} */ lengths) =>
    lengths.length > 1 ? `keys of ${lengths[0]}\u2013${lengths[lengths.length - 1]}` : `key of ${lengths[0]}`,
  fresh: (/** @type {number} */ n) => `${n} new`,
  again: "seen again",
  gone: "evicted",
  more: (/** @type {number} */ shown, /** @type {number} */ held) => `the last ${shown} used, of ${count(held)}`,
  unsaid: "This recording does not say how the context\u2019s database was kept, so its entries are not shown.",
  differs: (/** @type {number} */ told, /** @type {number} */ own) =>
    `The recording counts ${count(told)} insertions, its text gives ${count(own)}: do not trust these entries.`,
};

export const WINDOW = {
  title: (/** @type {number} */ filed) => `The window ahead: ${many(filed, "n-gram")} so far`,
  tip: "Each pass of the level above includes the window and gives what would follow each column; a column with what was written below it is an n-gram.",
  lattice: "The last step, one column for each n-gram",
  head: "first",
  said: "just written",
  fills: "The window is filling: its first n-grams come when it is full.",
  behind: (/** @type {number} */ n) => `Kept after this token, newest first: ${count(n)}`,
  other: "The last answer did not come from the window ahead.",
  list: "n-grams kept after the token that was looked up",
};

/** A lookup, step by step. */
export const LOOKUP = {
  label: "A lookup in the text",
  before: (/** @type {boolean} */ prompt) => (prompt ? "in the prompt" : "earlier"),
  now: "the end",
  back: "One step back",
  next: "Next step",
  which: "lookup",
  of: (/** @type {number} */ n, /** @type {number} */ all) => `${n} of ${all}`,
  heads: ["database", "holds", "came in", "went out", "this lookup"],
  count: (/** @type {number} */ n) => count(n),
  fixed: "never changes",
  answered: "answered",
  asked: (/** @type {string[]} */ order, /** @type {string} */ letter, /** @type {string|null} */ by) =>
    order.indexOf(letter) < order.indexOf(by ?? "") ? "had nothing" : "was not asked",
  stages: [
    (/** @type {any} */ x) => `The key is how the text ends: \u201c${x.key}\u201d.`,
    (/** @type {any} */ x) => `It stood before, ${x.back} tokens earlier.`,
    (/** @type {any} */ x) => `What followed there is copied: \u201c${x.copy}\u201d. No model has run.`,
    (/** @type {any} */ x) =>
      `The level above kept ${x.fate.kept} of ${x.count}. What the round wrote is filed under new keys in the text\u2019s own database.`,
  ],
};

translate("systems/ngram", { DB, SHARES, LOOKUPS, ENTRIES, WINDOW, LOOKUP });
