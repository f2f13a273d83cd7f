/** Which level accepted a token, as `accepted_by` of hsd_core/trace/conventions.py says it. */

/**
 * The highest level below the target that had accepted a token at a cursor (ns); the target where the token is its own;
 * null where it came to the target straight from the level that supplied it.
 * @param {{level: number, passed: {level: number, t: number}[]}} record @param {number} top the target's index
 * @param {number} cursor
 * @returns {number|null}
 */
export function acceptedBy({ level, passed }, top, cursor) {
  if (level === top) return top;
  const below = passed.filter((x) => x.level < top && x.t <= cursor).map((x) => x.level);
  return below.length ? Math.max(...below) : null;
}
