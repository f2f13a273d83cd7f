/** The generalised shortest path over levels and block lengths, with the arithmetic of the planner
 *  (hsd_core/theory/search/paths.py) for levels whose passes cost the same whatever their rows. */

import { yielded } from "./yields.js";

/**
 * A step of a path: a level with the length of its blocks; the last one is the target.
 * @typedef {{level: number, block: number}} Hop
 * @typedef {{ms: number, path: Hop[]}} Way
 */

/**
 * Verifications until t tokens are held, where each has blocks of u tokens and adds one of its own: E[R(t; a, u)].
 * @param {number} t @param {number} a @param {number} u
 */
export function roundsUntil(t, a, u) {
  const visits = [1, ...Array(t - 1).fill(0)]; // P(a verification begins with n tokens held)
  for (let held = 0; held < t; held++)
    for (let x = 1; x <= u + 1 && held + x < t; x++)
      visits[held + x] += visits[held] * (x <= u ? a ** (x - 1) * (1 - a) : a ** u);
  return visits.reduce((sum, v) => sum + v, 0);
}

/**
 * @param {number[]} costs ms of a pass, cheapest level first, the target last
 * @param {number[][]} kept kept[i][j]: the share of level i's tokens that level j accepts
 * @param {number} most the longest block
 * @returns {{best: Way, nodes: Way[][], ends: Way[][]}} best: ms a token; nodes[i][t - 1]: ms to get t tokens from level i;
 *   ends[i][t - 1]: ms a token where the target verifies those
 */
export function shortest(costs, kept, most) {
  const target = costs.length - 1;
  /** @type {Way[][]} */ const nodes = [];
  for (let i = 0; i < target; i++) {
    nodes.push(
      Array.from({ length: most }, (_, at) => {
        const t = at + 1;
        /** @type {Way} */ let best = { ms: t * costs[i], path: [{ level: i, block: t }] };
        for (let j = 0; j < i; j++)
          for (let u = 1; u <= most; u++) {
            const below = nodes[j][u - 1];
            const ms = roundsUntil(t, kept[j][i], u) * (costs[i] + below.ms);
            if (ms < best.ms) best = { ms, path: [...below.path, { level: i, block: t }] };
          }
        return best;
      }),
    );
  }
  const end = { level: target, block: 1 };
  const ends = nodes.map((ways, i) =>
    ways.map(({ ms, path }, at) => ({
      ms: (costs[target] + ms) / yielded(kept[i][target], at + 1),
      path: [...path, end],
    })),
  );
  /** @type {Way} */ const plain = { ms: costs[target], path: [end] };
  return { best: ends.flat().reduce((best, way) => (way.ms < best.ms ? way : best), plain), nodes, ends };
}
