/** What is said of a preset's default stack on this machine. */

import { DEFAULT_STACK } from "../words/default-stack.js";

/**
 * @typedef {{speedup: number, two: {stack: string, speedup: number}|null, gain: number|null, interval: [number, number]|null}} Promised
 * @typedef {{stack: string, source: string, about: Record<string, string>, promise: Promised|null}} DefaultStack
 *   hsd_core/theory/search/default_here.py
 */

/** Where its block lengths come from. @param {DefaultStack} known */
export function plannedFrom({ source, about }) {
  const { recorded = "", machine = "", effort = "" } = about;
  if (source === "measured") return (effort ? DEFAULT_STACK.quick : DEFAULT_STACK.measured)(recorded);
  return source === "shipped" ? DEFAULT_STACK.shipped(machine, recorded) : DEFAULT_STACK.preset;
}

/** What the planner predicts of it, "" where nothing was planned. @param {DefaultStack} known */
export function promised({ promise }) {
  if (!promise) return "";
  const { speedup, gain, interval } = promise;
  if (gain === null) return DEFAULT_STACK.alone(times(speedup));
  return DEFAULT_STACK.over(times(speedup), times(gain), interval && [times(interval[0]), times(interval[1])]);
}

const times = (/** @type {number} */ x) => x.toFixed(2);
