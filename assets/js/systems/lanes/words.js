/** What the page says of levels that work at the same time: a lesson's picture, and the Planner's question. */

import { translate } from "../../../text/language.js";
import { fixed } from "../../../text/numbers.js";

const whole = (/** @type {number} */ share) => {
  const percent = 100 * share;
  return percent > 0 && percent < 10 && Math.abs(percent - Math.round(percent)) > 0.05
    ? fixed(percent, 1)
    : String(Math.round(percent));
};

/** One level after another, and both at the same time. */
export const LOCK_STEP = {
  label: "Drafting and verifying in turn, and at the same time",
  a: { label: "acceptance a", text: (/** @type {number} */ v) => fixed(v, 2) },
  g: { label: "tokens of a block", text: (/** @type {number} */ v) => String(v) },
  d: { label: "cost of a draft, in passes", text: (/** @type {number} */ v) => fixed(v, 2) },
  key: ["drafting", "verifying"],
  turn: "in turn",
  step: "two machines",
  yields: (/** @type {string} */ tokens, /** @type {string} */ time) => `${tokens} tokens in ${time} passes\u2019 time`,
  ran: (/** @type {string} */ gain, /** @type {boolean} */ apart) =>
    `The run itself, whose passes of several rows cost more, was ${gain} times as fast ${apart ? "on two lanes" : "in turn"}.`,
  says: (/** @type {{bound: string, turn: string, step: string, best: any[][], pays: boolean, loses: boolean}} */ x) =>
    `A round gets at most ${x.bound} times as fast. By this formula, in which a pass costs the same whatever its rows and every token is kept alike: ${x.turn} times plain decoding in turn, ${x.step} on two machines. With the best block: ${x.best[0][0]} in turn (${x.best[0][1]} tokens), ${x.best[1][0]} on two machines (${x.best[1][1]}). ${
      x.pays
        ? "The second machine pays."
        : x.loses
          ? "The second machine does not pay: in turn is as fast or faster."
          : "Neither is faster than plain decoding."
    }`,
};

/** "Would a second machine pay?", behind the Planner's first question. */
export const SECOND = {
  behind: /** @type {[string, string]} */ ([
    "Would a second machine pay?",
    "levels that work at the same time, reckoned",
  ]),
  label: "would a second machine pay?",
  asking: "asking the planner\u2026",
  yes: (/** @type {string} */ stack, /** @type {string} */ gain, /** @type {string} */ ms, /** @type {string} */ one) =>
    `Yes, reckoned: ${stack}, on two machines, would be ${gain} times as fast as the best stack on one: ${ms} against ${one} ms a token.`,
  no: (/** @type {string} */ stack, /** @type {string} */ ms, /** @type {string} */ one) =>
    `No, do not overlap: the best on two machines (${stack}) would take ${ms} ms a token, the best on one takes ${one}.`,
  none: "No, do not overlap: every drafter here reads the target\u2019s last states, so it cannot run on another machine.",
  clock:
    "Reckoned: every pass was timed alone, then laid on two clocks, one for the target and one for what drafts for it. This is what a second machine of this kind would give; the recommended stack stays the one on one machine.",
  /** Of one drafter. */
  gainsBy: (
    /** @type {string} */ name,
    /** @type {string} */ gain,
    /** @type {string} */ ms,
    /** @type {string} */ one,
  ) => `${name} gains ${gain} times: ${ms} ms a token on two machines, ${one} on one.`,
  loses: (/** @type {string} */ name, /** @type {string} */ ms, /** @type {string} */ one) =>
    `Do not overlap ${name}: ${ms} ms a token on two machines, ${one} on one.`,
  even: (/** @type {string} */ name, /** @type {string} */ ms) =>
    `It makes no difference to ${name}: ${ms} ms a token on two machines and on one.`,
  because: (/** @type {number} */ share, /** @type {number} */ a, /** @type {[number, number]|null} */ pays) => {
    const cost = `A token of it costs ${whole(share)} % of a pass of the target, which accepts ${whole(a)} %.`;
    if (!pays) return `${cost} At that agreement overlapping pays at no cost.`;
    if (share < pays[0])
      return `${cost} At that agreement overlapping pays from ${whole(pays[0])} % on: a cheaper draft is better finished first.`;
    return `${cost} At that agreement overlapping pays up to ${whole(pays[1])} % at most.`;
  },
  needs: (/** @type {string} */ level) =>
    `${level} reads the target\u2019s last states, so this is priced but cannot be run apart.`,
  busy: (/** @type {number} */ verifying, /** @type {number} */ drafting) =>
    `The target\u2019s machine is busy ${whole(verifying)} % of the time, the other ${whole(drafting)} %.`,
  /** Of a place on the map. */
  here: (/** @type {string} */ gain) =>
    `With these numbers two machines are ${gain} times as fast as the better way on one.`,
  hereNo: (/** @type {string} */ gain) =>
    `With these numbers do not overlap: two machines reach ${gain} times the better way on one.`,
  hereEven: "With these numbers it makes no difference.",
  constant: "One drafter in lock step (PEARL), costs that do not grow with the rows.",
  costs: "A drafted token costs",
  accepts: "The target accepts",
  ofPass: (/** @type {number} */ share) => `${whole(share)} % of a pass`,
  ofTokens: (/** @type {number} */ share) => `${whole(share)} % of the tokens`,
  across: "a drafted token, of a pass of the target",
  upright: "accepted by the target",
  percent: (/** @type {number} */ share) => `${whole(share)} %`,
  ms: (/** @type {string} */ ms) => `${ms} ms`,
  times: (/** @type {number} */ gain) => `${fixed(gain, 2)}\u00d7`,
  same: "no difference",
  band: (/** @type {number|undefined} */ low, /** @type {number|undefined} */ high) =>
    low === undefined
      ? `below ${high}\u00d7`
      : high === undefined
        ? `${low}\u00d7 and more`
        : `${low} to ${high}\u00d7`,
  bands: "speed on two machines over the better way on one",
  use: "Use this stack",
  useTip: "puts it into the composer of the Explore tab, where it runs on a reckoned clock",
  cannotUse: "There are no weights here for a level of this stack.",
  show: (/** @type {string} */ name) => `show ${name} on the map`,
  drafters: "what may draft for the target",
  drafterHead: ["drafts", "gain", "", "a token costs", "accepted", "on one machine", "on two, reckoned", "lanes"],
  lockStep: "lock step (pearl)",
  free: "free (ahead)",
  verdicts: { yes: "gains", no: "do not overlap", even: "no difference" },
  pricedOnly: "cannot run apart",
  corner: "accepted \u2193 costs \u2192",
  map: "gain of a second machine, by acceptance and cost",
  asTable: "the map as a table",
};

translate("systems/lanes", { LOCK_STEP, SECOND });
