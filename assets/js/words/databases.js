/** The sentences of the databases' view. */

const many = (/** @type {number} */ n, /** @type {string} */ word, more = `${word}s`) =>
  `${n.toLocaleString("en")} ${n === 1 ? word : more}`;

export const DB = {
  open: "Databases",
  openTip: "what the lookups asked, who answered, and what is kept of it (key D)",
  title: "Databases of the lookups",
  close: "Close the databases (Esc)",
  keys: "\u2190 \u2192 one event, Esc closes",
  back: "One event back",
  on: "One event on",
  round: (/** @type {number} */ nth, /** @type {number} */ of) => (nth ? `round ${nth} of ${of}` : "before round 1"),
  none: "This stack looks nothing up, so there are no databases to see.",
  cure: "Add \u201cn-gram lookup\u201d in the tower as the lowest level and press Generate, or open a recording whose levels have an N.",
  simulated: "This run is simulated: its lookups hit as often as a profile says, and no database was asked.",
};

export const SHARES = {
  caption: "Who supplied the text so far, in the order in which they are asked",
  database: "database",
  answered: "answers",
  answeredTip: "lookups that it answered",
  kept: "kept / offered",
  keptTip: "its tokens that became part of the text / all that it offered, until this moment",
  share: "share of the text",
  others: "written by models",
  silent: "none knew",
  silentOf: (/** @type {number} */ n) => `${n.toLocaleString("en")} lookups`,
  untold: "an older recording does not count them all",
  ratio: (/** @type {number} */ kept, /** @type {number} */ offered) =>
    `${kept.toLocaleString("en")} / ${offered.toLocaleString("en")}`,
  percent: (/** @type {number} */ part) => `${(100 * part).toFixed(part > 0 && part < 0.0995 ? 1 : 0)}%`,
};

export const LOOKUPS = {
  caption: "The last lookups, newest first",
  round: "round",
  to: (/** @type {number} */ round) => `To this lookup, in round ${round}`,
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
  tip: "What followed which words in the prompt and the text. It follows from the text: for every token one entry per length of the key.",
  evicted: (/** @type {number} */ n, /** @type {number} */ kept) =>
    `${n.toLocaleString("en")} evicted: a key keeps its ${kept} latest continuations`,
  hit: (/** @type {string} */ where) => `Found in ${where}: `,
  prompt: "the prompt",
  text: "the text",
  behind: (/** @type {number} */ key) => `behind the same ${many(key, "token")}`,
  show: "Show it in the text",
  noHit: (/** @type {string} */ letter) => `The last answer came from ${letter}, not from the context.`,
  noAnswer: "The last lookup found nothing.",
  notAsked: "This stack does not ask the context (c).",
  list: "Entries used last, newest first",
  lengths: (/** @type {number[]} */ lengths) =>
    lengths.length > 1 ? `keys of ${lengths[0]}\u2013${lengths[lengths.length - 1]}` : `key of ${lengths[0]}`,
  fresh: (/** @type {number} */ n) => `${n} new`,
  again: "seen again",
  gone: "evicted",
  more: (/** @type {number} */ shown, /** @type {number} */ held) =>
    `the ${shown} used last of ${held.toLocaleString("en")}`,
  old: "This recording does not say how the context\u2019s database was kept (it is older than that), so its entries are not shown.",
  differs: (/** @type {number} */ told, /** @type {number} */ own) =>
    `The recording counts ${told.toLocaleString("en")} filings, its text gives ${own.toLocaleString("en")}: do not trust these entries.`,
};

export const WINDOW = {
  title: (/** @type {number} */ filed) => `The window ahead: ${many(filed, "n-gram")} so far`,
  tip: "Each pass of the level above carries the window along and says what would follow each of its columns; a column with what was said below it is an n-gram.",
  lattice: "The last step, a column for each n-gram",
  head: "first",
  said: "just said",
  fills: "The window fills: its first n-grams come when it is whole.",
  behind: (/** @type {number} */ n) => `Kept behind this token, newest first: ${n.toLocaleString("en")}`,
  other: "The last answer came from elsewhere than the window ahead.",
  list: "n-grams kept behind the token that was looked up",
};
