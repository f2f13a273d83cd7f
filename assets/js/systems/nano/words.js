/** Scaling laws of acceptance, on the Results tab. */

import { translate } from "../../../text/language.js";
import { count, fixed } from "../../../text/numbers.js";

const percent = (/** @type {number} */ share, digits = 0) => `${fixed(100 * share, digits)} %`;
const signed = (/** @type {number} */ value, digits = 3) =>
  `${value < 0 ? "\u2212" : "+"}${fixed(Math.abs(value), digits)}`;
const large = (/** @type {number} */ n) =>
  n < 1e6 ? `${count(Math.round(n / 1000))} thousand` : `${fixed(n / 1e6, 1)} million`;

/** @type {Record<string, string>} */
const TEXTS = { held_out: "held-out prompts of the same sources", other: "texts that no training read" };

export const SCALING = {
  title: "What training buys",
  about: "acceptance against tokens of training and against size; what another hour would add",
  lead: (
    /** @type {string} */ preset,
    /** @type {{draft: {name: string, fed: boolean}, tokens: number, epochs: number, machine: string, day: string}} */ x,
    /** @type {{texts: Record<string, number>}} */ { texts },
  ) =>
    `The draft ${x.draft.name}${x.draft.fed ? "-fed" : ""} of ${preset}, trained from scratch on nested parts of up to ${count(x.tokens)} tokens that its target wrote, each read ${x.epochs === 1 ? "once" : `${x.epochs} times`}, with one seed and the same hyperparameters; then in other sizes. After Scylla (arXiv 2505.07858). Judged by ${Object.entries(
      texts,
    )
      .map(([name, n]) => `${n} ${TEXTS[name]}`)
      .join(" and ")}; ${x.machine}, ${x.day}.`,
  unreachable: "The server could not send the sweep of trainings; open this tab again to retry.",
  command: "Command",
  texts: TEXTS,
  gates: /** @type {Record<string, string>} */ ({ gate: "with copies", own: "without copies" }),
  between: (/** @type {string} */ low, /** @type {string} */ high) => `${low} to ${high}`,
  low: "low",
  high: "high",
};

export const OVER_TOKENS = {
  rate: {
    title: (/** @type {string} */ texts) => `Acceptance rate over tokens of training: ${texts}`,
    text: "Measured. Share of judged tokens that are accepted, in rounds of four drafted tokens along what the target writes greedily.",
    axis: "acceptance rate",
    hover: "%{fullData.name}<br>%{x:,} tokens: %{y:.1%} (%{customdata})<extra></extra>",
    value: (/** @type {number} */ value) => percent(value, 1),
    step: (/** @type {number} */ value) => signed(100 * value, 1),
    unit: " points",
  },
  passes: {
    title: (/** @type {string} */ texts) => `Tokens a pass of the target over tokens of training: ${texts}`,
    text: "Measured in the same rounds. Scylla calls this count the acceptance rate: how many tokens one pass of the target yields.",
    axis: "tokens a pass",
    hover: "%{fullData.name}<br>%{x:,} tokens: %{y:.2f} a pass (%{customdata})<extra></extra>",
    value: (/** @type {number} */ value) => fixed(value, 3),
    step: (/** @type {number} */ value) => signed(value, 3),
    unit: "",
  },
  told: (
    /** @type {{slope: number[], predicted: number[], measured: number[]}} */ law,
    /** @type {{value: (x: number) => string, step: (x: number) => string, unit: string}} */ said,
  ) =>
    `${said.step(law.slope[0])}${said.unit} (${said.step(law.slope[1])} to ${said.step(law.slope[2])}); the largest: predicted ${said.value(law.predicted[0])}, measured ${said.value(law.measured[0])}`,
  text: (/** @type {string} */ gate, /** @type {string} */ own) =>
    `What a doubling of the data bought, with copies: ${gate}. Without: ${own}. The line is fitted without the largest training (ring: what it says there); dotted: all trainings, to four times as many tokens at most.`,
  few: "Too few trainings for a line that could be checked.",
  axis: "tokens of training",
  copies: "copies",
  line: (/** @type {string} */ name) => `line, ${name}`,
  predicted: (/** @type {string} */ name) => `predicted, ${name}`,
  ahead: (/** @type {string} */ name) => `line of all trainings, ${name}`,
  lineThere: "line",
  off: "above the line",
};

export const SIZES = {
  title: "Acceptance rate over size",
  text: (/** @type {number} */ tokens, /** @type {string} */ texts) =>
    `Measured. Drafts of one and two layers of their own, with trimmed heads of different sizes, each trained on the same ${count(tokens)} tokens; judged by ${texts}. A drafted token reads every one of these weights, a byte each at 8 bits.`,
  size: (/** @type {number} */ layers, /** @type {number} */ rows) =>
    `${layers} ${layers === 1 ? "layer" : "layers"}, ${count(rows)} rows`,
  axis: "own layers, rows of the head, weights read a drafted token",
  tick: (/** @type {number} */ layers, /** @type {number} */ rows, /** @type {number} */ millions) =>
    `${layers} ${layers === 1 ? "layer" : "layers"}<br>${count(rows)} rows<br>${fixed(millions, 1)} M`,
  weights: "million weights read a drafted token",
  rate: "acceptance rate",
  draft: "draft",
  share: "of the target\u2019s",
  seconds: "core-seconds of training",
  copies: "copies",
  hover: "%{fullData.name}<br>%{text}: %{y:.1%} (%{customdata})<extra></extra>",
};

export const HOUR = {
  title: "What another hour of training would buy",
  text: (
    /** @type {{per_hour: number, from: number, tokens: number, hours: number, acceptance: {now: number[], then: number[]}}} */ x,
    /** @type {string} */ texts,
  ) =>
    `Predicted, not run. An hour of one core reads ${large(x.per_hour)} tokens. ${
      x.hours < 0.995
        ? `The line is followed to four times the tokens at most, ${large(x.tokens)}, which takes ${Math.round(60 * x.hours)} minutes`
        : `With them the draft has learned ${large(x.tokens)}`
    }: acceptance rate ${percent(x.acceptance.now[0], 1)} measured, ${percent(x.acceptance.then[0], 1)} predicted (${percent(x.acceptance.then[1], 1)} to ${percent(x.acceptance.then[2], 1)}), ${texts}. Tokens/s: the Planner\u2019s recursion with the costs of this machine\u2019s profile, block lengths chosen anew.`,
  after: (/** @type {number} */ tokens) => `predicted after ${large(tokens)} tokens`,
  axis: "predicted tokens/s",
  plain: "plain decoding",
  plainHover: "%{fullData.name}: %{y:.1f} tokens/s<extra></extra>",
  stack: "stack",
  learned: "tokens of training",
  hover: "%{x}<br>%{fullData.name}: %{y:.1f} tokens/s (%{customdata})<extra></extra>",
};

export const LOAD = {
  title: "With more requests at once",
  text: (/** @type {boolean} */ measured) =>
    `Predicted, not run: Scylla\u2019s batch axis. The draft alone, against plain decoding of as many requests at once, by the Planner\u2019s recursion at the best block length. Requests share every pass, so each drafted token costs more and fewer pay. ${measured ? "The target\u2019s joint passes were measured." : "Where the target\u2019s joint passes were not measured, one costs what a pass of as many rows does."}`,
  after: (/** @type {number} */ tokens) => `after ${large(tokens)} tokens`,
  axis: "requests at once",
  gain: "speed-up",
  learned: "tokens of training",
  block: "block length T",
  hover: "%{fullData.name}<br>%{x} at once: %{y:.2f} times plain decoding, T = %{customdata}<extra></extra>",
};

translate("systems/nano", { SCALING, OVER_TOKENS, SIZES, HOUR, LOAD });
