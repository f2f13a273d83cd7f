/** "Is another level worth it?", the Planner's first question. */

import { translate } from "../language.js";

const COUNTS = ["no level", "the model alone", "two levels", "three levels"];
const named = (/** @type {string} */ phrase) => phrase.replace(/^(?:an?|the) /, "");

export const ANOTHER = {
  label: "is another level worth it?",
  question: "Is another level worth it?",
  lead: (/** @type {number} */ n, /** @type {string} */ level, /** @type {string} */ kind) =>
    `The fastest ${COUNTS[n]} of this profile have ${level.replace(/^the /, "a ")} below the model; the curves are the best plans with these levels, and with one of them fewer. Predicted from ${kind === "simulated" ? "assumed" : "measured"} costs and acceptances; Results has what was measured.`,
  /** On what: a prediction is another one on other machines and prompts. */
  on: (/** @type {{machine?: string, texts?: number}} */ about, /** @type {string} */ kind) =>
    kind === "simulated"
      ? "Predicted from assumed numbers."
      : `Predicted for ${about.machine || "this machine"}${about.texts ? `, over ${about.texts} prompts` : ""}.`,
  agrees: (/** @type {string} */ level) => `The model agrees with the ${named(level)}`,
  costs: (/** @type {string} */ level) => `A pass of the ${named(level)} costs`,
  ofTokens: (/** @type {number} */ share) => `${whole(share)} % of its tokens`,
  ofPass: (/** @type {number} */ share) => `${whole(share)} % of the model\u2019s`,
  measured: ", as measured",
  assumed: ", as assumed",
  counts: (/** @type {number} */ n) => COUNTS[n] ?? `${n} levels`,
  yes: (/** @type {number} */ more, /** @type {string} */ gain, /** @type {string} */ beside) =>
    `Yes: ${COUNTS[more]} are ${gain} times as fast as the model alone${more > 2 ? `, ${COUNTS[more - 1]} ${beside} times` : ""}.`,
  no: (/** @type {number} */ more, /** @type {string} */ gain, /** @type {string} */ beside) =>
    more > 2
      ? `No: ${COUNTS[more]} reach ${gain} times the model alone, ${COUNTS[more - 1]} ${beside} times.`
      : `No: two levels reach ${gain} times the model alone.`,
  even: (/** @type {number} */ more, /** @type {string} */ gain) =>
    `It makes no difference: ${COUNTS[more]} and ${COUNTS[more - 1]} both reach ${gain} times the model alone.`,
  pays: (/** @type {string} */ level, /** @type {number} */ below) =>
    `It pays as long as a pass of the ${named(level)} costs less than ${whole(below)} % of the model\u2019s.`,
  paysBetween: (/** @type {string} */ level, /** @type {number} */ low, /** @type {number} */ high) =>
    `It pays while a pass of the ${named(level)} costs between ${whole(low)} and ${whole(high)} % of the model\u2019s.`,
  paysAbove: (/** @type {string} */ level, /** @type {number} */ low) =>
    `It pays where a pass of the ${named(level)} costs more than ${whole(low)} % of the model\u2019s.`,
  paysNever: "At this agreement it pays at no cost shown here.",
  paysAlways: "At this agreement it pays at every cost shown here.",
  reset: "Back to the profile\u2019s numbers",
  use: "Use this stack",
  useTip: "puts it into the composer of the Explore tab",
  cannotUse: "A level of this stack has no weights here, so it can be priced but not run.",
  best: (/** @type {number} */ n) => (n === 1 ? COUNTS[1] : `the best plan of ${COUNTS[n]}`),
  own: { measured: "this machine", shipped: "the machine of this profile", simulated: "as assumed", file: "your file" },
  axis: (/** @type {string} */ level) => `a pass of the ${named(level)}, as a share of the model\u2019s`,
  upright: "speed-up over the model alone",
  percent: (/** @type {number} */ share) => `${whole(share)} %`,
  times: (/** @type {number} */ gain) => `${gain}\u00d7`,
  crossing: (/** @type {number} */ share) => `${whole(share)} %`,
  table: "speed-ups of the best plans by cost",
  asTable: "as a table",
  head: (/** @type {{fewer: string, more: string}} */ names) => ["cost", names.fewer, "stack", names.more, "stack"],
  noGrid: "Nothing was worked out ahead for this profile; start the program: python app.py",
};

/** @param {number} share */
function whole(share) {
  const percent = 100 * share;
  return percent > 0 && percent < 10 && Math.abs(percent - Math.round(percent)) > 0.05
    ? percent.toFixed(1)
    : String(Math.round(percent));
}

translate("another", { ANOTHER });
