/** What the what-if controls ask, by name, where answers were worked out ahead: one control at a time, at some stops. */

/** @typedef {{max_block: number, rejections: number, cost: {level: string, factor: number}, levels: boolean[]}} Turned */

/**
 * The names of what is turned; app/site/planned_ahead.py names its answers alike. None: everything is at rest.
 * @param {Turned} turned @param {any} profile @param {number} longest the profile's own longest block
 */
export function namesOf(turned, profile, longest) {
  const { cost, rejections, max_block: block } = turned;
  return [
    ...(block === longest ? [] : [`block=${block}`]),
    ...(rejections === 1 ? [] : [`rejections=${rejections}`]),
    ...(Math.abs(cost.factor - 1) < 1e-9 ? [] : [`cost=${cost.factor}=${cost.level}`]),
    ...turned.levels.flatMap((allowed, i) => (allowed ? [] : [`without=${profile.levels[i].name}`])),
  ];
}
