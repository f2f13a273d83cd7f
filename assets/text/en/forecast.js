/** The sentences of what the theory predicts for a stack, and of what was measured. */

import { LANGUAGE, translate } from "../language.js";
import { many } from "../many.js";
import { rounded } from "../numbers.js";

/** @param {string} day @param {string} where */
const measuredOn = (day, where) => [where, day].filter(Boolean).join(", ");

const tokens = (/** @type {number} */ n) => n.toLocaleString(LANGUAGE);
const on = (/** @type {string} */ machine) => machine && `, ${machine}`;

/** @type {Record<string, (predicted: number, measured: number) => string>} */
const CAUSES = {
  pace: (predicted, measured) =>
    `the machine was ${measured > predicted ? "slower" : "faster"}: plain decoding took ${rounded(measured)} ms a token instead of ${rounded(predicted)}`,
  tokens: (predicted, measured) =>
    `a pass of the target gave ${rounded(measured)} tokens instead of ${rounded(predicted)}, as drafts were accepted ${measured > predicted ? "more" : "less"} often than in the profile`,
  cost: (predicted, measured) =>
    `a round cost ${rounded(measured)} passes of plain decoding instead of ${rounded(predicted)}`,
};

export const words = {
  predicted: "predicted",
  measured: "measured",
  error: "error",
  asks: "Theory: asking the planner\u2026",
  says: (/** @type {string} */ predicted, /** @type {string} */ where) => `Theory says ${predicted}${on(where)}`,
  said: (/** @type {string} */ predicted, /** @type {string} */ measured, /** @type {string} */ where) =>
    `Theory said ${predicted}, measured ${measured}${on(where)}`,
  /** The profile is one machine's, the run another's. */
  saidElsewhere: (
    /** @type {string} */ predicted,
    /** @type {string} */ where,
    /** @type {string} */ measured,
    /** @type {string} */ there,
  ) => `Theory says ${predicted}${on(where)}; measured ${measured}${on(there)}`,
  thisMachine: "this machine",
  /** A speed-up, and where it depends on it the length of the text that it is for. */
  at: (/** @type {string} */ predicted, /** @type {number|undefined} */ length) =>
    length ? `${predicted} at ${tokens(length)} tokens of text` : predicted,
  paysFrom: (/** @type {number} */ from, /** @type {boolean} */ first) =>
    first
      ? `Faster than plain decoding at ${tokens(from)} tokens of text already, the shortest that was measured.`
      : `Faster than plain decoding from ${tokens(from)} tokens of text on.`,
  paysNowhere: "At the longest texts, measured or extrapolated, this is no faster than plain decoding.",
  extrapolated: (/** @type {number} */ length, /** @type {number} */ first, /** @type {number} */ last) =>
    `${tokens(length)} tokens are extrapolated: ${first === last ? `${tokens(first)}` : `${tokens(first)} to ${tokens(last)}`} were measured.`,
  saysReckoned: (/** @type {string} */ predicted, /** @type {string} */ where) =>
    `Theory says ${predicted}, reckoned${on(where)}`,
  saidReckoned: (/** @type {string} */ predicted, /** @type {string} */ found, /** @type {string} */ clock) =>
    clock === "reckoned"
      ? `Theory said ${predicted}, the run gave ${found} (both reckoned)`
      : `Theory said ${predicted}, reckoned; the run gave ${found}, ${clock}`,
  reckoned: "reckoned",
  reckonedTip:
    "of the run shown: each pass was timed alone, then laid on two clocks: what a second machine of this kind would give; against plain decoding in the same run",
  otherClock: (/** @type {string} */ clock) =>
    `The clock of the run is ${clock}, that of the prediction reckoned, so no error is given.`,
  twoClocks: "For two machines of this kind, one for the target.",
  lineTip: "opens the prediction: time a token, its error and why, what each level is worth",
  /** Why it missed, the largest cause first. @param {{what: string, predicted: number, measured: number}[]} causes */
  why: (causes) =>
    causes.length
      ? `It missed because ${causes.map((one) => CAUSES[one.what](one.predicted, one.measured)).join(", and ")}.`
      : "",
  caught: (
    /** @type {string} */ level,
    /** @type {number} */ wrong,
    /** @type {string} */ ms,
    /** @type {string} */ of,
  ) =>
    `${level} caught ${many(wrong, "wrong guess", "wrong guesses")} before the target saw them, at ${ms} ms a call; a call of the target takes ${of} ms.`,
  worth: "What each level is worth, by the same theory",
  without: (/** @type {string} */ level, /** @type {string} */ speedup) => `Without ${level}: ${speedup}`,
  title: "What the theory predicts for this stack, and what was measured",
  ms: "ms a token",
  times: "speed-up",
  unknown: "\u2013",
  asking: "asking the planner\u2026",
  none: (/** @type {string} */ reason) => `No prediction: ${reason}.`,
  ran: (/** @type {string} */ ms, /** @type {string} */ gain, how = "measured") =>
    `${how[0].toUpperCase()}${how.slice(1)}: ${ms} ms a token${gain && `, ${gain} plain decoding`}.`,
  lost: "the server did not answer; change the stack to ask again",
  auto: "Auto changes levels and block lengths while it runs",
  madeUp: "these levels are simulated; the Planner tab prices them",
  faulty: "this stack cannot be run",
  here: (/** @type {string} */ day) => `By the profile of this machine${day && `, measured on ${day}`}.`,
  shipped: (/** @type {string} */ where, /** @type {string} */ day) =>
    `By the shipped profile, measured on ${measuredOn(day, where) || "another machine"}.`,
  elsewhere: "The run was measured on another machine, so no error is given.",
  engine: "The run and the profile are from different engines (onnxruntime, torch alone), so no error is given.",
  otherwise: "The run was sampled differently from this profile, so no error is given.",
  off: (/** @type {number} */ share) => {
    const percent = Math.abs(100 * share);
    return `${share > 0 ? "+" : share < 0 ? "\u2212" : ""}${percent.toFixed(percent < 9.95 ? 1 : 0)}\u00a0%`;
  },
  errorTip:
    "(predicted \u2212 measured) / measured. If the machine now runs slower than when the profile was measured, the ms change, but hardly the speed-up",
  predictedTip:
    "expected ms a token and speed-up over plain decoding: the exact recursion over this profile, as in the Planner tab",
  measuredTip:
    "of the run shown: decode time / committed tokens, prefill excluded; against plain decoding in the same run",
  gain: (/** @type {number} */ from, /** @type {number} */ to) =>
    `${from.toFixed(2)}\u00d7 \u2192 ${to.toFixed(2)}\u00d7 predicted`,
  gainAt: (/** @type {number} */ to, /** @type {number|undefined} */ length) =>
    `${words.at(`${to.toFixed(2)}\u00d7`, length)}, predicted`,
  noGain: "no prediction",
};

translate("forecast", { words });
