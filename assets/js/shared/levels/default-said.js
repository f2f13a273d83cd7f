/** What is said of a preset's default stack on this machine. */

import { ratio } from "../../../text/numbers.js";
import { DEFAULT_STACK } from "../../../text/en/default-stack.js";

/** @typedef {{speedup: number, two: {stack: string, speedup: number}|null, gain: number|null, interval: [number, number]|null}} Promised
 *  @typedef {{stack: string, source: string, about: Record<string, string>, promise: Promised|null,
 *    measures?: boolean}} DefaultStack measures: whether a press measures this machine;
 *    hsd_core/theory/search/default_stack.py */

/** Why it is that stack. @param {DefaultStack} known */
export function plannedFrom({ source, about }) {
  const { recorded = "", machine = "", effort = "" } = about;
  if (source === "measured") return (effort ? DEFAULT_STACK.quick : DEFAULT_STACK.measured)(recorded);
  if (source === "shipped") return DEFAULT_STACK.shipped(machine, recorded);
  return source === "pinned" ? DEFAULT_STACK.pinned : DEFAULT_STACK.preset;
}

/** What the planner predicts of it, "" where nothing was planned. @param {DefaultStack} known */
export function promised({ promise }) {
  if (!promise) return "";
  const { speedup, gain, interval } = promise;
  if (gain === null) return DEFAULT_STACK.alone(ratio(speedup));
  return DEFAULT_STACK.over(ratio(speedup), ratio(gain), ends(interval));
}

/** Both in one sentence. @param {DefaultStack} known */
export function inBrief({ source, about, promise }) {
  /** @type {{brief: Record<string, string>}} */ const { brief } = DEFAULT_STACK;
  const from = source === "measured" ? (about.effort ? brief.quick : brief.measured) : brief[source];
  const { gain = null, interval = null } = promise ?? {};
  return DEFAULT_STACK.briefly(from ?? brief.preset, gain === null ? "" : ratio(gain), ends(interval));
}

/** @param {[number, number]|null} interval @returns {[string, string]|null} */
const ends = (interval) => interval && [ratio(interval[0]), ratio(interval[1])];
