/** The Atlas tab: systems by who drafts and how drafts are judged. What is said of each is in assets/systems. */

import { translate } from "../language.js";
import { many } from "../many.js";

/** Who drafts, in the order of the map's rows. @type {Record<string, {name: string, about: string}>} */
export const WHO = {
  lookups: { name: "Lookups", about: "text that was seen before" },
  exits: { name: "Early exits", about: "the target\u2019s own first layers" },
  heads: { name: "Heads", about: "small layers over the target\u2019s last state" },
  models: { name: "Models", about: "smaller models, or copies in fewer bits" },
  diffusion: { name: "Diffusion", about: "all places of a block at once" },
};

/** How drafts are judged, in the order of the map's columns. @type {Record<string, {name: string, about: string}>} */
export const HOW = {
  "one by one": { name: "One by one", about: "along one line, until one is rejected" },
  block: { name: "As a block", about: "the whole line is weighed" },
  tree: { name: "As a tree", about: "several candidates for a place" },
  "several levels": { name: "By several levels", about: "verifiers above verifiers" },
  "in parallel": { name: "In parallel", about: "while the next ones are drafted" },
  loosely: { name: "Loosely", about: "other tokens pass too" },
};

export const ATLAS = {
  title: "Atlas",
  lead: "The systems of the field, laid out by two questions: who drafts, and how are drafts judged?",
  begin: "Begin with",
  map: "Systems by who drafts and how drafts are judged",
  failed: "The systems could not be fetched; reload the page.",
  unknown: (/** @type {string} */ id) => `There is no system \u201c${id}\u201d here; all of them are below.`,
  count: (/** @type {number} */ shown, /** @type {number} */ all, /** @type {number} */ built) =>
    `${shown === all ? "" : `${shown} of `}${many(all, "system")}, ${built} of them ${built === 1 ? "runs" : "run"} here`,
  none: "No system is like that.",
  legend: {
    sign: "bars are levels, dots what the top one judges",
    runs: "runs here",
    first: "runs here once it has what it needs",
    not: "not built here",
    lossy: "the text may differ",
  },
};

/** What figures are measured on. */
export const BENCHMARKS = {
  title: "What figures are measured on",
  all: [
    {
      name: "Spec-Bench",
      paper: "2401.07851",
      about:
        "480 prompts of six tasks, one request at a time; most figures of papers here, and prompts of our own benchmark.",
    },
    {
      name: "SPEED-Bench",
      paper: "2604.09557",
      about:
        "880 prompts of eleven categories, and sets for many requests at once. Its licence is for evaluation, so it is not shipped: bench --prompts FILE reads a copy that you have.",
    },
  ],
};

export const FILTERS = {
  label: "which systems",
  find: "find a system",
  who: "who drafts",
  how: "how drafts are judged",
  exact: "exact or not",
  anyWho: "any drafter",
  anyHow: "judged in any way",
  anyExact: "exact or not",
  exactly: { yes: "exact", no: "not exact", open: "it depends" },
  here: "runs here",
  clear: "Show all",
};

export const SYSTEM = {
  back: "All systems",
  before: (/** @type {string} */ name) => `before: ${name}`,
  after: (/** @type {string} */ name) => `next: ${name}`,
  paper: (/** @type {string} */ id) => `arXiv ${id}`,
  who: (/** @type {string} */ name) => `drafted by ${name.toLowerCase()}`,
  how: (/** @type {string} */ name) => `judged ${name[0].toLowerCase()}${name.slice(1)}`,
  exact: { yes: "exact", no: "not exact", open: "exact or not: it depends" },
  figures: "its figures",
  theirs: "The paper reports",
  noFigure: "No figure of the paper is known to us.",
  /** A figure of a paper: over what, on what. */
  reported: (/** @type {{says: string, over?: string|null, of?: string|null, up_to?: boolean}} */ one) =>
    `${one.up_to ? "up to " : ""}${one.says}${one.over ? ` ${one.over}` : ""}${one.of ? ` on ${one.of}` : ""}`,
  noMachine: "machine and models not known to us",
  /** By the clock of levels that work at the same time. @type {Record<string, string>} */
  ours: {
    "": "Measured here",
    reckoned: "Reckoned here, a machine for each lane",
    real: "Measured here, on two cores",
  },
  ofPlain: "plain decoding",
  interval: (/** @type {string} */ low, /** @type {string} */ high) => `95 %: ${low} to ${high}`,
  on: (/** @type {string} */ machine, /** @type {number} */ prompts, /** @type {string|null} */ bench) =>
    `${machine}, ${bench === null ? "its recording, one prompt" : `${many(prompts, "prompt")} of the benchmark ${bench}`}`,
  reckoned: "reckoned",
  notBuilt: "Not built here, so there is no figure of ours.",
  notMeasured: "Nobody has measured it here yet.",
  reasons: { yes: "Why it is exact", no: "Why it is not exact", open: "When it is exact" },
  pays: "Where it pays",
  loses: "Where it loses",
  near: "What it shares with others",
  stack: "The stack that it is here",
  first: "Needed first",
  open: "Open it on Explore",
  openTip: "puts this stack into the composer",
  watch: "Watch its recording",
  where: "its place on the map",
};

/** What a drawing says, for those who hear it. */
export const DRAWN = {
  floor: /** @type {Record<string, string>} beside kinds of level */ ({
    diffusion: "a diffusion model",
    target: "the target",
  }),
  hand: /** @type {Record<string, (size: number) => string>} */ ({
    chain: (n) => many(n, "token"),
    block: (n) => `a block of ${many(n, "token")}`,
    tree: (n) => `a tree of ${many(n, "candidate")}`,
    comb: (n) => `${many(n, "line")} of tokens`,
    cells: (n) => `${many(n, "place")} filled in any order`,
  }),
  and: " and ",
  judged: (/** @type {string} */ from, /** @type {string} */ what, /** @type {string} */ by) =>
    `${from}: ${what}, judged by ${by}`,
  turns: (/** @type {string} */ one, /** @type {string} */ other) => `${one} and ${other} take turns`,
  rewritten: (/** @type {string} */ what, /** @type {string} */ by) => `${what}, rewritten by ${by}`,
  lanes: (/** @type {number} */ levels) => `${levels > 2 ? "All" : "Both"} work at the same time.`,
  written: "The top row is what is written.",
};

translate("atlas", { WHO, HOW, ATLAS, BENCHMARKS, FILTERS, SYSTEM, DRAWN });
