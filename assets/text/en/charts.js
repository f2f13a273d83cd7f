/** The live charts: their names, how each figure is calculated, and what a reader hears of a round. */

import { translate } from "../language.js";
import { many } from "../many.js";

export const CHARTS = {
  title: "Live charts",
  tip: "time, speed and acceptance, round by round, while the run is written",
  keys: "Live charts; the arrow keys read them round by round",
  picture: "live charts",
  onClock: (/** @type {string} */ title, /** @type {string} */ clock) => `${title}, ${clock}`,
  latency: "Time a round",
  speed: "Speed",
  yield: "Tokens a pass",
  acceptance: "Accepted",
  formulas: {
    latency: "ms of each round on the engine\u2019s clock, stacked by level",
    speed:
      "committed tokens / decode time on the engine\u2019s clock up to each round, prefill excluded; dashed: plain decoding",
    yield: "tokens that each round committed with one pass of the target, its own token included; dashed: the mean",
    acceptance:
      "share of its drafter\u2019s tokens that a level accepted: dots for each round, lines for the run up to there",
  },
  rate: "tokens/s",
  mean: "mean",
  ofRound: (/** @type {number} */ round) => `round ${round}`,
  plain: (/** @type {string} */ speed) => `plain ${speed}`,
  oneLevel: "One level: nothing to accept.",
  nothing: "no round yet",
  /** One round, for those who hear the page. */
  heard: {
    round: (/** @type {number} */ round, /** @type {number} */ rounds) => `round ${round} of ${rounds}`,
    latency: (/** @type {string} */ whole, /** @type {string} */ parts) => `${whole} (${parts})`,
    speed: (/** @type {string} */ speed, /** @type {string} */ plain) =>
      plain ? `${speed} tokens/s so far, plain ${plain}` : `${speed} tokens/s so far`,
    tokens: (/** @type {number} */ tokens) => many(tokens, "token"),
    accepted: (/** @type {string} */ level, /** @type {number} */ kept, /** @type {number} */ judged) =>
      `${level} accepted ${kept} of ${judged}`,
  },
};

/** The figures below the fold. Plotly fills in what stands in %{}. */
export const STUDY = {
  label: "Study this run",
  keys: (/** @type {string} */ title) => `${title}: the arrow keys read it value by value`,
  /** @type {Record<string, string>} before what a figure says, where times are not the machine's own */
  clocks: {
    simulated: "Simulated: no model ran. ",
    reckoned: "Reckoned: each pass was timed alone, then laid on the clock of its lane. ",
    real: "Real: two lanes at work at the same time. ",
  },
  auto: (/** @type {number} */ times) => `Auto: the levels and their T changed ${many(times, "time")} during the run. `,
  by: (/** @type {string} */ level) => `by ${level}`,
  acceptance: {
    title: "Acceptance by position in the block",
    text: "How often each verifier kept the token at this position, of those it judged (a token after a rejected one is not judged).",
    x: "position in the block",
    y: "accepted / judged",
    hover: "position %{x}: %{y:.0%} (%{customdata[0]} of %{customdata[1]})<extra></extra>",
    columns: ["verifier", "position", "judged", "accepted", "share"],
    heard: (
      /** @type {string} */ level,
      /** @type {number} */ position,
      /** @type {string} */ share,
      /** @type {number} */ accepted,
      /** @type {number} */ judged,
    ) => `${level}, position ${position}: ${share}, ${accepted} of ${judged}`,
  },
  time: {
    title: "Where the time went",
    text: "Engine time of each level, prefill left out. Time counts as lost in proportion to the rows computed for tokens that were never committed.",
    kept: "for tokens that were committed",
    lost: "for tokens that were not",
    between: "between levels",
    x: "ms of decoding",
    hover: (/** @type {string} */ name) => `%{x:.1f} ms<br>${name}<extra></extra>`,
    columns: ["level", "prefill, ms", "drafting, ms", "verifying, ms", "lost, ms"],
    took: (/** @type {string} */ time) => `${time} (sampling, storing)`,
    heard: (/** @type {string} */ level, /** @type {string} */ time, /** @type {string} */ name) =>
      `${level}: ${time} ms ${name}`,
  },
  tokens: {
    title: "Tokens against time",
    own: "this stack",
    plain: (/** @type {boolean} */ simulated) => `plain decoding, ${simulated ? "simulated" : "measured"}`,
    prefill: "prefill",
    x: "s on the engine\u2019s clock",
    y: "tokens committed",
    hover: "%{x:.2f} s: %{y} tokens<extra></extra>",
    columns: ["run", "prefill, ms", "tokens", "end, ms", "tokens/s"],
    planned: (/** @type {number} */ round, /** @type {string} */ stack) => `from round ${round} on: ${stack}`,
    text: (/** @type {boolean} */ plain, /** @type {string} */ plans) =>
      `Committed tokens after each round, beside plain decoding of the same target on the same prompt and seed.${
        plain ? "" : " Plain decoding was not measured in this run."
      }${plans ? ` Auto (dotted lines): ${plans}.` : ""}`,
    heard: (/** @type {string} */ run, /** @type {string} */ time, /** @type {number} */ tokens) =>
      `${run}: ${many(tokens, "token")} after ${time} s`,
  },
};

translate("charts", { CHARTS, STUDY });
