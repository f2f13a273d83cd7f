/** Early exits, on the Results tab: the sentences of their studies. */

import { translate } from "../../../text/language.js";
import { fixed } from "../../../text/numbers.js";

const percent = (/** @type {number} */ share) => `${Math.round(100 * share)} %`;
const two = (/** @type {number} */ value) => fixed(value, 2);

export const EXITS = {
  title: "Early exits",
  about: "what each depth knows, which exits would pay, and what it would take",
  lead: (
    /** @type {string} */ preset,
    /** @type {{texts: number, tokens: number, prompts: string, machine: string, day: string}} */ x,
  ) =>
    `${preset} drafting for itself, as in HiSpec: what its first layers already know, which stacks of exits would pay, and what it would take. ${x.texts} texts of ${x.prompts}, ${x.tokens} tokens, ${x.machine}, ${x.day}.`,
  unreachable: "The server could not send the study of early exits; open this tab again to retry.",
  command: "Command",
  lens: "the model\u2019s own head",
  layers: "layers",
  readout: "read-out",
  measured: "Measured.",
  computed: "Computed, not run.",
  none: "none",
  low: "low",
  high: "high",
  stack: "stack",
  code: "as written",
};

export const BY_DEPTH = {
  title: "What each depth already knows",
  text: (/** @type {number} */ quarter, /** @type {number} */ untrained, /** @type {string} */ trained) =>
    `Measured. Share of the model\u2019s own tokens that a read-out at this depth would have written too, at temperature 0. At layer ${quarter}, a quarter of the depth, the model\u2019s own head knows ${percent(untrained)}${trained}. HiSpec reports up to 69 % there, with models that were trained to exit.`,
  trained: (/** @type {number} */ share) => `, a trained exit ${percent(share)}`,
  axis: "layers run",
  share: "share of tokens",
  paper: "HiSpec, at best",
  agrees: "agrees",
  hover: "%{fullData.name}<br>layer %{x}: %{y:.0%}<extra></extra>",
};

export const QUARTER = {
  title: "What a quarter of the layers lets through",
  text: (/** @type {number} */ at) =>
    `Measured. Of the tokens that a drafter proposes, the share that a trained exit at layer ${at} accepts, and of those the share that the last layer keeps. What the exit lets through wrongly is what HiSpec\u2019s second step still has to catch.`,
  drafter: "drafted by",
  accepts: (/** @type {number} */ at) => `accepted at layer ${at}`,
  kept: "of those, kept by the last layer",
  hover: "%{y}<br>%{fullData.name}: %{x:.0%}<extra></extra>",
};

export const SWEEP = {
  title: "Every draft exit below every upper exit",
  text: (
    /** @type {{draft: number, gain: string}} */ one,
    /** @type {{draft: number, above: number, gain: string}|null} */ pair,
  ) =>
    `Computed, not run: by the exact recursion, from measured passes and agreements of exits through the model\u2019s own head, each stack with its own best block lengths. The best exit alone is layer ${one.draft}: ${one.gain}\u00d7 plain decoding.${pair ? ` The best two are layers ${pair.draft} and ${pair.above}: ${pair.gain}\u00d7.` : ""}`,
  x: "draft exit, layers",
  y: "upper exit, layers",
  gain: "speed-up",
  blocks: "block lengths",
  hover: "draft at %{x}, upper %{y}<br>%{text}\u00d7 plain decoding<extra></extra>",
};

export const GRID = {
  title: "Draft exits below upper exits, measured",
  text: (/** @type {{prompts: number, draft: number, above: number, gain: string}} */ x) =>
    `Measured on ${x.prompts} prompts, with exits trained at these layers. The best two are layers ${x.draft} and ${x.above}: ${x.gain}\u00d7 plain decoding. HiSpec\u2019s figure 5 has its best at an eighth and a quarter of the layers of a model that was trained to exit.`,
};

export const RUNS = {
  title: "Exits on the clock",
  text: "Bars: measured speed-up over plain decoding with its 95 % interval. Diamonds: what the recursion computes from the machine\u2019s costs and the acceptances of the same runs.",
  axis: "speed-up over plain decoding",
  measured: "measured",
  computed: "computed",
  accepted: "accepted, by level",
  hover: "%{customdata}<br>%{x:.2f}\u00d7<extra></extra>",
};

export const RATIOS = {
  title: "What a verification costs, in drafted tokens",
  text: "Measured. The target verifies four tokens in the time in which the drafter writes this many. The more, the more a second verifier in between can save. Beside it what HiSpec reports for large models.",
  axis: "drafted tokens per verification",
  draft: "drafter",
  machine: "machine",
  verify: "verification, ms",
  drafted: "drafted token, ms",
  ratio: "ratio",
  paper: "reported by HiSpec",
  /** @type {[string, number, number][]} a drafter and its target, from and to */
  reported: [
    ["OPT 66B", 2, 2],
    ["Llama 70B", 4, 6],
    ["Llama 405B", 10.3, 10.3],
  ],
  hover: "%{customdata}<br>%{x:.1f} drafted tokens<extra></extra>",
};

export const NEEDED = {
  plain: "What two exits need to beat plain decoding",
  one: "What two exits need to beat one",
  ideal: "The same where layers are all that costs",
  plainText: (/** @type {{now: number, from: number|null, share: number}} */ x) =>
    `Computed, not run, from this machine\u2019s costs. Layers are ${percent(x.share)} of a pass here. ${x.from === null ? "No acceptance is enough." : `Two exits gain once the last layer accepts ${percent(x.from)} of what the upper exit hands up; it accepts ${percent(x.now)} today.`} The other acceptances move along.`,
  oneText: (/** @type {{upper: number, inner: number}|null} */ from, /** @type {boolean} */ paper) =>
    `Computed, not run, from this machine\u2019s costs; every stack with its best block lengths. ${from ? `Two exits begin to beat one where the last layer accepts ${percent(from.upper)} of the upper exit\u2019s tokens and the upper exit ${percent(from.inner)} of the draft exit\u2019s.` : "Two exits beat one nowhere."} ${paper ? "The paper\u2019s 1.28 is within reach." : "The paper\u2019s 1.28 is out of reach at these costs."}`,
  idealText: (/** @type {{upper: number, inner: number}|null} */ from) =>
    `Computed for costs that this machine does not have: a pass is its layers alone, and more rows cost nothing, which a large model on a GPU comes near. ${from ? `1.28 is reached where the last layer accepts ${percent(from.upper)} and the upper exit ${percent(from.inner)}.` : "1.28 is not reached even so."}`,
  upper: "last layer accepts of the upper exit\u2019s tokens",
  inner: "upper exit accepts of the draft exit\u2019s",
  share: "layers\u2019 share of a pass",
  overPlain: "two exits / plain decoding",
  overOne: "two exits / best exit alone",
  today: (/** @type {number} */ gain, /** @type {number} */ computed) =>
    `measured ${two(gain)}, computed ${two(computed)}`,
  hover: "%{x:.0%} accepted above, %{y:.0%}<br>%{text}\u00d7<extra></extra>",
};

/** Keys and values of an exit and its target. */
export const CACHE = {
  label: "Layers that an exit and its target compute, by token",
  last: "last token",
  guess: (/** @type {number} */ n) => `guess ${n}`,
  layer: (/** @type {number} */ n) => (n === 0 ? "layer 0" : `after ${n}`),
  exit: "exit",
  target: "target",
  again: "for the bonus alone",
  once: "computed once, used by both",
  guesses: "guesses",
  at: "layers of the exit",
  bonus: "bonus token",
  saysExit: (/** @type {number} */ at, /** @type {number} */ layers, /** @type {number} */ n) =>
    `The exit ran the first ${at} of ${layers} layers on the last token and on all guesses but the last: ${n} times.`,
  says: (
    /** @type {{at: number, layers: number, guesses: number, bonus: boolean, exit: number, target: number, shared: number, most: number, plain: number}} */ x,
  ) =>
    `The exit reads ${x.at} layers ${x.guesses} times, the target ${x.bonus ? `all ${x.layers}, since the bonus needs the first ones too` : `the other ${x.layers - x.at} once`}: ${x.exit + x.target} layers for up to ${x.most} tokens; plain decoding reads ${x.plain} for as many. ${x.shared} results are computed once and used by both.`,
};

/** Why a stack of exits loses in a benchmark. */
export const LOST = {
  called: "HiSpec\u2019s exits lose",
  part: (/** @type {number} */ at, /** @type {number} */ of, /** @type {number} */ percent) =>
    `the first ${at}${of ? ` of ${of}` : ""} layers take ${percent} % of a pass`,
  why: (/** @type {string} */ parts) => `${parts[0].toUpperCase()}${parts.slice(1)}.`,
};

translate("systems/exits", { EXITS, BY_DEPTH, QUARTER, SWEEP, RUNS, RATIOS, NEEDED, CACHE, LOST });
