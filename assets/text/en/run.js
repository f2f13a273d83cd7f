/** What can be run, and how it goes: the prompt row, its settings, the badge that says what is shown. */

import { LANGUAGE, translate } from "../language.js";
import { many } from "../many.js";

export const PROMPT = {
  stop: "Stop",
  stopping: "Stopping\u2026",
  examples: "Examples",
  try: "Try",
  tryLabel: "examples that go well with this model",
  tryTip: (/** @type {string} */ prompt) => `writes an answer to: ${prompt}`,
  otherTip: (/** @type {string} */ prompt, /** @type {string} */ invite) =>
    `This text was written for another prompt: \u201c${prompt}\u201d. ${invite}`,
  other: "for another prompt",
  placeholder:
    "The prompt is empty, so there is nothing to generate. Write one here, or choose an example under More; Ctrl+Enter generates.",
  label: "prompt",
  generate: "Generate",
  before: (/** @type {number} */ ahead) => `${ahead} before yours`,
  pace: (/** @type {number|null} */ answers) => {
    const many = answers && (answers < 1.5 ? answers.toFixed(1) : answers.toFixed(0));
    return `${many ? `, about ${many} a minute` : ""}; recordings are free`;
  },
  settings: "settings",
  form: "what to run",
  generateTip: "run this stack on this prompt (Ctrl+Enter)",
  stopTip: "stop, after this round at the latest (Esc)",
  stoppingTip: "finishing the round",
  noPreset: "No preset is available, so nothing can be run.",
  simulated: "This stack is simulated: there are no weights for it here. Choose another stack to generate text.",
  size: (/** @type {number} */ characters, /** @type {number} */ tokens, /** @type {number|null} */ most) =>
    `${characters.toLocaleString(LANGUAGE)} characters, about ${tokens.toLocaleString(LANGUAGE)} tokens${most ? `; at most ${most.toLocaleString(LANGUAGE)} tokens are read here` : ""}`,
  /** Why a text is no prompt here, "" if it may be one; most: characters, as the server counts them. */
  over: (/** @type {string} */ text, /** @type {number} */ most) => {
    const count = text.length > most ? [...text].length : 0;
    return count > most
      ? `The prompt has ${count.toLocaleString(LANGUAGE)} characters, and at most ${most.toLocaleString(LANGUAGE)} are read here: shorten it, or start the program with app.py --prompt-tokens 8192.`
      : "";
  },
  unfold: "Show more of it",
  fold: "Fold",
  tooLong: "for servers that read longer prompts (app.py --prompt-tokens 8192)",
  noLongText: "The text did not arrive; choose it again.",
  empty: "The prompt is empty: write something or choose an example.",
};

/** A label and its tooltip. */
export const SETTINGS = {
  off: "cannot be used here",
  groups: { model: "Model", sampling: "Sampling", run: "Run" },
  preset: ["preset", "which weights"],
  presets: "Presets",
  targets: "Targets of this server",
  whyNot: (/** @type {number} */ n) => `Why ${n === 1 ? "one cannot" : `${n} cannot`} be used`,
  device: ["device", "where the levels run"],
  anyDevice: "the best available",
  temperature: ["temperature", "0 is greedy: always the most likely token"],
  topK: ["top-k", "keep the k most likely tokens; 0 keeps all"],
  topP: ["top-p", "keep the smallest set of tokens with this much probability"],
  seed: ["seed", "the same seed gives the same run"],
  newTokens: ["new tokens", "generate at most this many"],
  baseline: [
    "measure plain decoding too",
    "decode the same prompt with the target alone after the run, so that the speed-up is measured",
  ],
  replan: [
    "auto: re-plan while generating",
    "the levels in the tower are a choice: which of them run, and with which T, is decided again between rounds, from a measured profile and what earlier rounds accepted",
  ],
  depths: [
    "measure depths after the run",
    "one more pass over the text: what every layer would have written at each place (\u201cAt which layer did the model know?\u201d, below)",
  ],
  raw: ["raw prompt", "without the model's chat template"],
  detail: ["record", "what the trace keeps for each token"],
  details: { full: "everything", light: "without probability rows" },
};

export const STATUS = {
  /** @type {Record<string, string>} */
  places: { cpu: "CPU", cuda: "GPU" },
  live: "live",
  interrupted: "interrupted",
  recorded: "recorded",
  auto: "auto",
  target: "target",
  unknown: (/** @type {string[]} */ kinds) =>
    `${kinds.length > 1 ? "levels" : "a level"} not installed here (${kinds.join(", ")})`,
  unknownTip: "What runs such a level is not installed here: the recording is drawn with another colour and letter.",
  exactTip: (/** @type {string} */ why) => `Exact: ${why}.`,
  differs: (/** @type {number} */ n) => `another text from token ${n + 1} on`,
  differsTip: (/** @type {number|null} */ margin) =>
    `Plain decoding wrote another text; where they differ its two best logits were ${margin === null ? "an unknown margin" : margin.toPrecision(2)} apart.`,
  lossyTip: (/** @type {string} */ why) => `Lossy: ${why}.`,
  levels: (/** @type {number} */ n) => many(n, "level"),
  spoken: (
    /** @type {string} */ state,
    /** @type {{tokens: number, speed: number|null, kept: number|null, plan: string|null}} */ x,
  ) => {
    const speed = x.speed ? `, ${x.speed.toFixed(0)} tokens per second` : "";
    const kept = x.kept === null ? "" : `, ${Math.round(100 * x.kept)} percent of drafts kept`;
    return `${state}: ${x.tokens} tokens${speed}${kept}${x.plan === null ? "" : `, plan: ${x.plan}`}.`;
  },
  preparing: "preparing the run",
  none: "no run yet",
  start: "Choose a recording, or press Generate.",
  choose: "Choose a recording.",
  liveStopped: "live, stopped",
  liveDone: "live, done",
  autoTip: "Auto: levels and block lengths may change between rounds.",
  machine: (/** @type {string} */ machine) => `Machine: ${machine}.`,
  simulated: "simulated: no model ran",
  simulatedTip: (/** @type {string} */ what) => `Simulated: ${what}. The engine, its rules and every event are real.`,
  weights: (/** @type {string} */ from) => `Weights: ${from}.`,
};

export const STAGE = {
  lanes: "lanes on one clock",
  leftOut: (/** @type {string} */ names) => `Left out of the address because invalid: ${names}.`,
  unread: (/** @type {string} */ stack) => `${stack} is not a stack that the composer can read.`,
  composed: (/** @type {string} */ stack, /** @type {string} */ then) => `${stack}: it is in the composer. ${then}`,
  busy: "Your run must end first; then press Generate.",
  cannot: (/** @type {string} */ reason) => `It cannot be run: ${reason}`,
  press: "Press Generate to run it.",
  simulating: "Simulating the plan; the first time takes a few seconds.",
  stoppedEarly: "Stopped before it began.",
  stoppedFetching: "Stopped. What was fetched is kept: Generate goes on from there.",
  unanswered: "the server did not answer",
  unreached: "The server cannot be reached; this page tries again.",
};

/** What a text that is not exact costs. */
export const PRICE = {
  short: (/** @type {string} */ share) => `${share} not the target\u2019s own`,
  said: (/** @type {string} */ share, /** @type {string} */ nats, /** @type {string|null} */ plain) =>
    `${share} of the tokens are not the target\u2019s own choice; mean surprise ${nats} nats a token${plain === null ? "" : `, plain decoding\u2019s text ${plain}`}`,
  /** @type {[string, string]} */
  figure: [
    "price",
    "Tokens that are not the target\u2019s own choice after the same text, and how much the target is surprised: the mean of \u2212ln p at temperature 1, read by the target alone after the run",
  ],
  spared: "kept by a lossy rule: the target alone would have written another token",
};

translate("run", { PROMPT, SETTINGS, STATUS, STAGE, PRICE });
