/** Many requests at once: the Planner's slider, and the map of levels by load. */

import { translate } from "../language.js";
import { count, fixed, rounded } from "../numbers.js";

const requests = (/** @type {number} */ n) => (n === 1 ? "1 request" : `${n} requests`);
const listed = (/** @type {string[]} */ parts) =>
  parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts[parts.length - 1]}`;

export const LOAD = {
  label: "many requests at once",
  question: "What is fastest when many ask at once?",
  asking: "Planning each number of requests\u2026",
  slider: "Requests at once",
  requests,
  best: (/** @type {number} */ n, /** @type {number} */ times) =>
    `${n === 1 ? "One request alone" : `${n} requests at once`}: the best stack is ${fixed(times, 2)} times as fast as plain decoding.`,
  plain: (/** @type {number} */ n) => `${requests(n)} at once: no stack is faster than plain decoding.`,
  /** tokens/s */
  rate: (/** @type {number} */ x) => (x < 1000 ? rounded(x) : count(Math.round(x))),
  /** @param {[string, string][]} levels below the target, with what their blocks are @param {string} rate @param {string} plain */
  below: (levels, rate, plain) =>
    `Below the target: ${listed(levels.map(([name, block]) => `${name} (${block})`))}. ${rate} tokens/s in sum, plain decoding ${plain}.`,
  alone: (/** @type {string} */ rate) => `The target alone: ${rate} tokens/s in sum.`,
  block: (/** @type {number} */ n) => `block of ${n}`,
  tree: (/** @type {number[]} */ widths) => `tree ${widths.join(".")}`,
  /** @param {[string, number][]} levels @param {number} last */
  drops: (levels, last) =>
    levels.length
      ? `Dropping out: ${listed(levels.map(([name, n]) => `${name} at ${n}`))} requests.`
      : `No level drops out up to ${last} requests.`,
  unused: (/** @type {string[]} */ names) => `In no best stack: ${listed(names)}.`,
  /** What the costs are. @param {{machine?: string, recorded?: string}} about @param {{machine: string, recorded: string}|null} passes @param {boolean} dashed some are computed */
  on: (about, passes, dashed) =>
    passes
      ? `Predicted for ${placed(about)}. What passes of many requests cost was measured on ${placed(passes)}${dashed ? "; what is dashed was not, and is computed" : ""}.`
      : `Predicted for ${placed(about)}. Passes of many requests were not measured: computed, as one request\u2019s with as many rows.`,
  assumed: (/** @type {string} */ machine) =>
    `${machine ? `For ${machine}: c` : "C"}omputed, not measured. A pass of n rows of each of B requests is priced as one of n \u00d7 B rows.`,
  /** Beneath the picture: whose costs these are. @param {{machine: string, recorded: string, assumed: boolean}} about @param {{machine: string, recorded: string}|null} passes @returns {string[]} */
  credit: (about, passes) => {
    if (about.assumed) return [`computed${about.machine ? ` for ${about.machine}` : ""}, not measured`];
    const where = passes && [passes.machine === about.machine ? "" : passes.machine, passes.recorded.slice(0, 10)];
    const joint = where ? `measured ${where.filter(Boolean).join(", ")}` : "computed";
    return [placed(about), `passes of many requests ${joint}`];
  },
  constant: "No cost of this profile rises with its rows, so the number of requests changes nothing.",
  asStack: "All rows as one stack, which follows the requests that run:",
  machines: "priced for",
  one: "1\u00d7",
  gain: "times plain decoding",
  axis: "requests at once",
  map: "levels of the best stack by requests at once",
  alone1: "alone",
  treeBrief: "tree",
  out: "drops out",
  legend: {
    measured: "measured costs",
    computed: "computed costs",
    out: "drops out from here on",
    ran: "the fastest stack that ran, with its 95 % interval",
  },
  number: "number in a bar: block length",
  table: "the best stack by requests at once",
  asTable: "as a table",
  head: ["requests", "times plain", "tokens/s in sum", "plain, tokens/s", "drops out"],
  measuredHead: ["stack", "requests", "tokens/s in sum, predicted", "measured", "times plain, predicted", "measured"],
  measured: (/** @type {{machine: string, recorded: string}} */ where) => `Predicted and measured, on ${placed(where)}`,
  none: "\u2013",
  signs: "approves",
  computedMark: "computed",
  use: "Use this stack",
  useTip: "puts it into the composer of the Explore tab",
};

const placed = (/** @type {{machine?: string, recorded?: string}} */ { machine, recorded }) =>
  [machine || "this machine", recorded?.slice(0, 10)].filter(Boolean).join(", ");

translate("load", { LOAD });
