/** The live charts: their names, how each figure is calculated, and what a reader hears of a round. */

import { many } from "../../../shared/words/many.js";

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
