/** What a curve says: of one cost, and of the costs between which another level pays. */

import { nearest } from "./curve.js";

const SAME = 0.005; // closer than half a percent, two plans are called equal

/** @typedef {import("./answers.js").Curve} Curve @typedef {import("./answers.js").CostPoint} CostPoint */

const gain = (/** @type {CostPoint} */ { fewer, more }) => more.speedup / fewer.speedup;

/**
 * At one cost: whether it pays ("yes", "no", "even"), and the plan to use.
 * @param {Curve} curve @param {number} share
 * @returns {{point: CostPoint, pays: "yes"|"no"|"even", plan: import("./answers.js").PricedPlan}}
 */
export function readAt(curve, share) {
  const point = nearest(curve.points, share);
  const over = gain(point);
  const pays = Math.abs(over - 1) < SAME ? "even" : over > 1 ? "yes" : "no";
  return { point, pays, plan: over >= 1 ? point.more : point.fewer };
}

/**
 * The widest stretch of costs on which it pays: its ends, null where the curve has no end on that side; null if it never
 * pays. @param {Curve} curve @returns {{low: number|null, high: number|null}|null}
 */
export function paysFrom({ points, crossings }) {
  const ends = [points[0].share, ...crossings, points[points.length - 1].share];
  const stretches = ends.slice(1).map((high, i) => ({ low: ends[i], high }));
  /** @param {{low: number, high: number}} ends */
  const inside = ({ low, high }) => points.filter(({ share }) => share >= low && share <= high);
  const paying = stretches.filter((one) => inside(one).some((point) => gain(point) > 1));
  if (!paying.length) return null;
  const { low, high } = paying.reduce((a, b) => (b.high - b.low > a.high - a.low ? b : a));
  return { low: low === ends[0] ? null : low, high: high === ends[ends.length - 1] ? null : high };
}
