/** A profile as the tables edit it: pure functions over its JSON, and how its levels look. What was measured is
 *  kept beside what is written. */

import { stylesOf } from "../../../shared/levels/badge.js";
import { standIn } from "../../../shared/levels/kinds.js";
import { parse } from "../../../shared/levels/stack.js";
import { fullLevelName, levelName } from "../../../shared/levels/stack-names.js";

/** As hsd_core/theory/profiles/forms.py has it; a matrix of pairs is by the drafting level, then by the verifying one.
 *  @typedef {{name: string, cost_ms: Record<string, number>, spec?: string, hit_rate?: number, reach?: number[], draft_ms?: number, beside?: number[],
 *    interval_ms?: Record<string, [number, number]>, [field: string]: any}} ProfileLevel
 *  @typedef {{levels: ProfileLevel[], acceptance: number[][], edge_cost_ms?: Record<string, Record<string, number>>, round_ms?: number,
 *    temperature?: number, max_block?: number, by_width?: Record<string, any>, by_rule?: Record<string, number[][]>,
 *    interval?: ([number, number]|null)[][], about?: Record<string, any>}} Profile
 *  @typedef {{id: string, title: string, kind: string, note: string, preset: string, profiles: Profile[], reason?: string}} Source
 */

/** @template T @param {T} value @returns {T} */
export const copy = (value) => JSON.parse(JSON.stringify(value));

/** Row counts that any level lists, rising. @param {Profile} profile */
export function rowCounts(profile) {
  const counts = new Set(profile.levels.flatMap((level) => Object.keys(level.cost_ms).map(Number)));
  return [...counts].sort((a, b) => a - b);
}

/** ms for n rows: listed, or on the line between (beyond the last: along the last piece, never falling). */
export function costAt(/** @type {Record<string, number>} */ costs, /** @type {number} */ n) {
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

/** Whether a level cannot verify: a lookup, or one that offers several candidates side by side.
 *  @param {ProfileLevel} level */
export const draftsOnly = (level) => level.hit_rate !== undefined || Boolean(level.beside?.length);

/** A number by its path: ["levels", 0, "cost_ms", "4"]. @param {Profile} profile @param {(string|number)[]} path */
export function get(profile, path) {
  return path.reduce((part, key) => part?.[key], /** @type {any} */ (profile));
}

/** Writes a number; undefined takes it out. An edited acceptance no longer has those of several tokens side by side, which
 *  were measured with it. @param {Profile} profile @param {(string|number)[]} path @param {unknown} value */
export function set(profile, path, value) {
  const owner = path
    .slice(0, -1)
    .reduce((part, key) => (part[key] ??= {}), /** @type {Record<string, any>} */ (profile));
  const last = /** @type {string|number} */ (path.at(-1));
  if (value === undefined) delete owner[last];
  else owner[last] = value;
  if (path[0] === "acceptance" && value !== undefined) dropOthers(profile, Number(path[1]), Number(path[2]));
}

function dropOthers(/** @type {Profile} */ profile, /** @type {number} */ i, /** @type {number} */ j) {
  const pair = `${profile.levels[i].name}->${profile.levels[j].name}`;
  if (profile.by_width) delete profile.by_width[pair];
  for (const matrix of Object.values(profile.by_rule ?? {})) matrix[i][j] = profile.acceptance[i][j];
}

/** Back to what was measured: everything under this first key ("levels", "acceptance", "edge_cost_ms", "rest"). */
export function reset(/** @type {Profile} */ profile, /** @type {Profile} */ measured, /** @type {string} */ part) {
  const from = copy(measured);
  if (part === "acceptance") Object.assign(profile, pick(from, ["acceptance", "by_width", "by_rule", "interval"]));
  else if (part === "edge_cost_ms") Object.assign(profile, pick(from, ["edge_cost_ms"]));
  else Object.assign(profile, pick(from, ["levels", "round_ms"]));
  return profile;
}

function pick(/** @type {Profile} */ from, /** @type {(keyof Profile)[]} */ names) {
  return Object.fromEntries(names.filter((name) => name in from).map((name) => [name, from[name]]));
}

/** Whether two values hold the same numbers. @param {unknown} one @param {unknown} other */
export const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** Whether numbers were written into a profile. Intervals are not edited.
 *  @param {Profile} profile @param {Profile} measured */
export const changed = (profile, measured) => !same(bare(profile), bare(measured));

const bare = (/** @type {Profile} */ profile) => ({
  ...profile,
  levels: profile.levels.map(({ interval_ms: _, ...level }) => level),
  interval: null,
});

// How the levels of a profile look and what they are called: by their specs, as the server names their kinds.

export function styled(/** @type {Profile} */ profile) {
  const top = profile.levels.length - 1;
  const kind = (/** @type {any} */ level) =>
    level.spec?.split(/[@:]/)[0] || standIn(level.hit_rate === undefined ? "level" : "lookup").name;
  const called = names(profile.levels);
  return stylesOf(
    profile.levels.map((level, i) => ({
      name: level.name,
      called: called[i],
      kind: i === top ? standIn("target").name : kind(level),
    })),
  );
}

/** As `called` in app/tabs/planner/why.py has them: with all that tells them apart where several would have one name, and by
 *  their own names where nothing says what they are. @param {{name: string, spec?: string}[]} levels @returns {string[]} */
function names(levels) {
  const top = levels.length - 1;
  const read = levels.map(({ spec }, i) => (spec ? parse(i === top ? spec : `${spec},target`)?.[0] : null));
  const found = levels.map(({ name }, i) => (read[i] ? levelName(read[i]) : name));
  const once = (/** @type {string} */ name) => found.indexOf(name) === found.lastIndexOf(name);
  return found.map((name, i) => (once(name) || !read[i] ? name : fullLevelName(read[i])));
}

/** @typedef {{preset: string, device: string}} Place where profiles by length are of */

/** @param {Place} place */
export const placeOf = ({ preset, device }) => `${preset} ${device.split(":")[0]}`;

/** Whether there are profiles by length of it. @param {Place} place @param {[string, string][]} known presets and devices */
export const hasLengths = (place, known) =>
  known.some(([preset, device]) => placeOf({ preset, device }) === placeOf(place));
