/** Times and figures: the headline, the lanes and the line of figures above them. */

import { translate } from "../language.js";
import { many } from "../many.js";

/** @type {Record<string, {name: string, short: string, at: string, said: string}>} whose clock times are of, if not the machine's own */
export const CLOCKS = {
  reckoned: {
    name: "reckoned clock",
    short: "reckoned",
    at: "clock",
    said: "Reckoned: each pass was run and timed alone, then laid on a clock for each lane: what a machine of this kind for each would give.",
  },
  real: {
    name: "real clock, two lanes",
    short: "real",
    at: "clock",
    said: "Real: both lanes worked at the same time on one machine, each a process with one thread on a core of its own. Recorded by an earlier version.",
  },
  simulated: {
    name: "simulated clock",
    short: "simulated",
    at: "no model ran",
    said: "Simulated: no model ran.",
  },
};

export const COUNT = {
  /** A small count, as a word where a sentence begins with it or goes on. @param {number} n @param {boolean} [first] */
  few: (n, first = false) => {
    const word = ["two", "three", "four"][n - 2] ?? String(n);
    return first ? word[0].toUpperCase() + word.slice(1) : word;
  },
};

export const HEADLINE = {
  formula:
    "tokens/s up to this moment / tokens/s of plain decoding of the same target, prompt and seed; both on the engine\u2019s clock, prefill excluded",
  rateOf: { simulated: "simulated tokens/s", reckoned: "reckoned tokens/s", real: "real tokens/s" },
  rate: "tokens/s",
  waiting: "measuring plain decoding",
  gainOf: { simulated: "simulated speed-up", reckoned: "reckoned speed-up", real: "real speed-up" },
  gain: "as fast as plain decoding",
  against: (/** @type {string} */ now, /** @type {string} */ plain) => `${now} against ${plain} tokens/s`,
  /** On what: a speed-up is another one on other prompts and machines. */
  where: (/** @type {string} */ machine) => `one prompt${machine ? `, ${machine.split(",")[0]}` : ""}`,
  itself: "this is plain decoding",
  none: "plain was not measured",
  later: "plain decoding runs after it",
};

export const LANES = {
  picture: (/** @type {string} */ clock) => (clock ? `lanes, ${clock}` : "lanes"),
  rests: (/** @type {string} */ name) => `${name}: not in the plan`,
  head: ["level", "calls", "rows", "time"],
  layers: "layers run",
  /** @type {Record<string, string>} */
  what: { draft: "drafted", verify: "verified", prefill: "prefill" },
  call: (/** @type {number} */ round, /** @type {number} */ rows, probes = 0) =>
    `round ${round}, ${many(rows, "row")}${probes ? `, ${probes} of them for the window ahead` : ""}`,
  prefill: (/** @type {number} */ rows) => `${rows} prompt tokens`,
  drafts: (/** @type {number} */ out, sequences = 1) => `${out} out${sequences > 1 ? `, ${sequences} candidates` : ""}`,
  verifies: (/** @type {number} */ into, /** @type {number} */ out, rejected = 0) =>
    `${into} in, ${out} out${rejected ? `, ${rejected === 1 ? "one" : rejected} rejected` : ""}`,
  label: "Lanes: what each level computed, on one clock",
  /** @type {Record<string, (lanes: number) => string>} where levels work at the same time */
  labelOf: {
    reckoned: (lanes) =>
      `Lanes: what each level computed, laid on ${COUNT.few(lanes)} clocks as on ${COUNT.few(lanes)} machines (reckoned)`,
    real: (lanes) => `Lanes: what each level computed, in ${COUNT.few(lanes)} processes at the same time (real)`,
    simulated: (lanes) => `Lanes: what each level would compute, ${COUNT.few(lanes)} at the same time (simulated)`,
  },
  /** @type {Record<string, (lanes: number) => string>} above the lanes, where several work at the same time */
  titleOf: {
    reckoned: (lanes) => `${COUNT.few(lanes, true)} lanes, reckoned`,
    real: (lanes) => `${COUNT.few(lanes, true)} lanes, real`,
    simulated: (lanes) => `${COUNT.few(lanes, true)} lanes, simulated`,
  },
  used: (
    /** @type {{target: string, below: string, both: string, gain: string, dropped: number, waste: string, more: boolean}} */ x,
  ) =>
    `target at work ${x.target} of the time, ${x.below}, ${x.more ? "two or more" : "both"} at once ${x.both}; overlap gain ${x.gain}; ${many(x.dropped, "drafted token")} dropped, ${x.waste} of all rows in vain`,
  meanwhile: (/** @type {{round: number, who: string, drafted: number, kept: boolean}} */ x) =>
    `round ${x.round}: while the target verified, ${x.who} wrote ${many(x.drafted, "token")}; ${
      x.kept ? "none was dropped" : "a token before was rejected, so what was written behind it was dropped"
    }`,
  alone: (/** @type {number} */ round) => `round ${round}: nothing was drafted while the target verified`,
  focus: "Lanes; with the arrow keys, the round before and the next one",
  below: (/** @type {string} */ share) => `levels below it ${share}`,
  level: (/** @type {string} */ name, /** @type {string} */ share) => `${name} ${share}`,
  atWork: (/** @type {string} */ name) => `${name} at work`,
  two: "two or more at work",
  share: "share of the time",
  /** @type {Record<"target"|"below"|"both"|"gain"|"dropped"|"waste", string>} */
  lane: {
    target: "target at work",
    below: "levels below it at work",
    both: "both at work",
    gain: "overlap gain",
    dropped: "drafted tokens dropped",
    waste: "rows computed in vain",
  },
  vain: (/** @type {string} */ kind, /** @type {number} */ tokens) =>
    kind === "verify"
      ? "in vain: something before was rejected"
      : `${tokens} dropped unjudged: something before was rejected`,
  whole: "whole run",
  last: "last rounds",
  shownWhole: "Showing the whole run. Press for the rounds around the cursor",
  shownLast: "Showing the rounds around the cursor. Press for the whole run",
  timeline: (/** @type {number} */ rounds, /** @type {string} */ time) =>
    `Timeline of ${rounds} rounds, ${time}; the table that follows has its totals.`,
  caption: "Work per level in the whole run",
  theta: (/** @type {string} */ at) => `threshold θ ${at}`,
};

export const TALLY = {
  /** @type {Record<"forward"|"kept"|"first"|"layers"|"moved"|"both"|"equal", [string, string]>} a name and its formula */
  figures: {
    forward: ["per target pass", "tokens committed / forwards of the target, corrections and bonus tokens included"],
    kept: ["of drafts kept", "committed tokens drafted at the bottom / tokens drafted at the bottom"],
    first: ["to the first token", "prefill and first round, on the engine's clock"],
    layers: [
      "layers per token",
      "layers read by the levels that share the target\u2019s weights / tokens committed; plain decoding reads every layer for each token. A draft\u2019s own few layers are not counted",
    ],
    both: ["both at work", "time in which at least two lanes are at work / time of decoding"],
    moved: [
      "between devices",
      "ids, probabilities and states that crossed between processor and accelerator for drafts and verifications / tokens committed, and the time of all these copies by the device\u2019s own clock",
    ],
    equal: [
      "as plain decoding",
      "greedy: leading ids that equal plain decoding's, of all; sampled runs agree only in distribution",
    ],
  },
  moves: (/** @type {string} */ kb, /** @type {string} */ ms) => `${kb} kB a token, ${ms} ms in all`,
  of: (/** @type {string} */ part, /** @type {number} */ all) => `${part} of ${all}`,
  equal: (/** @type {string} */ share) => `${share} equal`,
  margin: (/** @type {string} */ share, /** @type {string|undefined} */ margin) =>
    `${share} (margin ${margin ?? "unknown"})`,
  simulated: "simulated",
  noModel: "no model ran",
  simulatedTip: (/** @type {string} */ tip) => `simulated: ${tip.replaceAll("measured", "simulated")}`,
  depths: "At which layer did the model know?",
  depthsTip: "below: every layer\u2019s probability of every token of this text",
  noDepths:
    "not measured in this run: tick \u201cmeasure depths after the run\u201d in the settings and generate again",
  whyNoDepths: (/** @type {string} */ why) => `The depths were ${why}.`,
};

translate("lanes", { CLOCKS, COUNT, HEADLINE, LANES, TALLY });
