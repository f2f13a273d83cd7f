/** A profile as the tables edit it: pure functions over its JSON. What was measured is kept beside what is written. */

export const copy = (value) => JSON.parse(JSON.stringify(value));

/** Row counts that any level lists, rising. */
export function rowCounts(profile) {
  const counts = new Set(profile.levels.flatMap((level) => Object.keys(level.cost_ms).map(Number)));
  return [...counts].sort((a, b) => a - b);
}

/** ms for n rows: listed, or on the line between (beyond the last: along the last piece, never falling). */
export function costAt(costs, n) {
  const known = Object.entries(costs)
    .map(([rows, ms]) => [Number(rows), ms])
    .sort((a, b) => a[0] - b[0]);
  if (known.length === 1 || n <= known[0][0]) return known[0][1];
  const after = known.findIndex(([rows]) => rows >= n);
  if (after < 0) {
    const [[n0, c0], [n1, c1]] = known.slice(-2);
    return c1 + Math.max(0, (c1 - c0) / (n1 - n0)) * (n - n1);
  }
  const [[n0, c0], [n1, c1]] = known.slice(after - 1, after + 1);
  return c0 + ((c1 - c0) * (n - n0)) / (n1 - n0);
}

/** Whether a level cannot verify: a lookup, or one that offers several candidates side by side. */
export const draftsOnly = (level) => level.hit_rate !== undefined || Boolean(level.beside?.length);

/** A number by its path: ["levels", 0, "cost_ms", "4"]. */
export function get(profile, path) {
  return path.reduce((part, key) => part?.[key], profile);
}

/**
 * Writes a number; undefined takes it out. An edited acceptance no longer has those of several tokens side by side, which
 * were measured with it.
 */
export function set(profile, path, value) {
  const owner = path.slice(0, -1).reduce((part, key) => (part[key] ??= {}), profile);
  if (value === undefined) delete owner[path.at(-1)];
  else owner[path.at(-1)] = value;
  if (path[0] === "acceptance" && value !== undefined) dropOthers(profile, path[1], path[2]);
}

function dropOthers(profile, i, j) {
  const pair = `${profile.levels[i].name}->${profile.levels[j].name}`;
  if (profile.by_width) delete profile.by_width[pair];
  for (const matrix of Object.values(profile.by_rule ?? {})) matrix[i][j] = profile.acceptance[i][j];
}

/** Back to what was measured: everything under this first key ("levels", "acceptance", "edge_cost_ms", "rest"). */
export function reset(profile, measured, part) {
  const from = copy(measured);
  if (part === "acceptance") Object.assign(profile, pick(from, ["acceptance", "by_width", "by_rule", "interval"]));
  else if (part === "edge_cost_ms") Object.assign(profile, pick(from, ["edge_cost_ms"]));
  else Object.assign(profile, pick(from, ["levels", "round_ms"]));
  return profile;
}

function pick(from, names) {
  return Object.fromEntries(names.filter((name) => name in from).map((name) => [name, from[name]]));
}

/** Whether two values hold the same numbers. */
export const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** Whether numbers were written into a profile. Intervals are not edited. */
export const changed = (profile, measured) => !same(bare(profile), bare(measured));

const bare = (profile) => ({
  ...profile,
  levels: profile.levels.map(({ interval_ms: _, ...level }) => level),
  interval: null,
});
