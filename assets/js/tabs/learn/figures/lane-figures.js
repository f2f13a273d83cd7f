/** Figures of two lanes: how much of the time they work, and how long a round keeps each of them. */

import { atMost } from "../sums/lock-step.js";

/** @typedef {import("../../../shared/run/trace.js").TraceModel} Model */

const middle = (/** @type {number[]} */ list) => list.sort((a, b) => a - b)[list.length >> 1] ?? null;

/** Medians over the rounds, ns: all that the levels below the target did, and the target's pass; null without either.
 *  @param {Model} model @returns {{below: number, target: number}|null} */
export function roundOfLanes(model) {
  const top = model.levels.length - 1;
  const took = (/** @type {import("../../../shared/run/trace.js").Segment[]} */ list) =>
    list.reduce((sum, s) => sum + s.t1 - s.t0, 0);
  const rounds = model.rounds.filter((one) => one.segments.some((s) => s.level === top && s.kind === "verify"));
  const below = middle(rounds.map((one) => took(one.segments.filter((s) => s.level < top))).filter(Boolean));
  const target = middle(rounds.map((one) => took(one.segments.filter((s) => s.level === top))));
  return below && target ? { below, target } : null;
}

/** A figure of a median round: ms of a lane, or at most how many times as fast both lanes at once are. @param {Model} model @param {string} what */
export function ofStep(model, what) {
  const found = roundOfLanes(model);
  if (!found) return null;
  if (what === "most") return atMost(found.below, found.target);
  return what === "below" || what === "target" ? found[what] / 1e6 : null;
}

/** A figure of the lanes, as the server worked it out; null where one level works after another. @param {any} model @param {string} what */
export const ofLanes = (model, what) => model.snapshots.at(-1)?.lanes?.[what] ?? null;
