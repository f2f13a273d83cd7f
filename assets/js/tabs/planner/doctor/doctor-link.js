/** A diagnosis in the address: the counts that it was read from, behind the #, where no server is sent them. */

const NAME = "#doctor=";
const LONGEST = 24_000; // characters: browsers and messengers cut longer addresses

/** @typedef {{runs: any, plain: number|null}} Held what gives the same answer again */

/** The part of an address, or "" where it would be too long. @param {Held} held */
export function packed({ runs, plain }) {
  const bare = { ...runs, runs: runs.runs.map((/** @type {{name?: string}} */ { name, ...counts }) => counts) }; // a file's name is its owner's
  const bytes = new TextEncoder().encode(JSON.stringify({ ...bare, ...(plain === null ? {} : { plain }) }));
  const text = btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
  return text.length > LONGEST ? "" : NAME + text;
}

/** What an address holds, or null. @param {string} hash @returns {Held|null} */
export function unpacked(hash) {
  if (!hash.startsWith(NAME) || hash.length > LONGEST + NAME.length) return null;
  try {
    const bytes = atob(hash.slice(NAME.length).replaceAll("-", "+").replaceAll("_", "/"));
    const held = JSON.parse(new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0))));
    const { plain = null, ...runs } = held;
    return Array.isArray(runs.runs) && (plain === null || typeof plain === "number") ? { runs, plain } : null;
  } catch {
    return null;
  }
}
