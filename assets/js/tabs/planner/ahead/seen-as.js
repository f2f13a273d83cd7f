/** Reads what the server's side writes for several looks at once (app/site/seen_as.py), where what is alike is written once. */

const [LOOK, PART] = ["~", "$"];
const [PHONE, WALL] = [700, 1800]; // px of the page, as in planner.css

/** Which of the looks a page has: as on a desk, on a phone, on a wall, each light and dark. @param {boolean} dark @param {number} width */
export const lookOf = (dark, width) => 2 * (width < PHONE ? 1 : width >= WALL ? 2 : 0) + Number(dark);

/**
 * A part of what was written, for one look. @param {any[]} parts @param {any} value @param {number} look
 * @returns {any}
 */
export function seenAs(parts, value, look) {
  if (Array.isArray(value)) return value.map((one) => seenAs(parts, one, look));
  if (value === null || typeof value !== "object") return value;
  if (PART in value) return seenAs(parts, parts[value[PART]], look);
  if (LOOK in value) return seenAs(parts, value[LOOK][look], look);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, seenAs(parts, one, look)]));
}
