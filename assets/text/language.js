/** The language of the page. Its texts stand in `en/`; a page in another language has run `text/LANG.js` before its
 *  scripts, which holds that language's folder, and each room of `en/` puts it in the place of its English. */

/** @type {{language: string, rooms: Record<string, any>}} */
const told = /** @type {any} */ (globalThis).hxText ?? { language: "en", rooms: {} };

export const LANGUAGE = told.language;
export const ROOMS = told.rooms;

/**
 * What a language says of a room: some or all of its English texts; a function takes what the English one takes.
 * @template T
 * @typedef {T extends (...given: infer G) => infer R ? (...given: G) => Said<R>
 *   : T extends string ? string
 *   : T extends object ? { [K in keyof T]?: Translation<T[K]> }
 *   : T} Translation
 */
/** @template R @typedef {R extends string ? string : R} Said */

/** Puts the language's texts into those of a room. @param {string} room @param {Record<string, any>} texts */
export const translate = (room, texts) => put(texts, ROOMS[room] ?? {});

/** @param {Record<string, any>} texts @param {Record<string, any>} others */
function put(texts, others) {
  for (const [name, other] of Object.entries(others)) {
    if (Array.isArray(other) && Array.isArray(texts[name]))
      texts[name].splice(0, texts[name].length, ...other); // a list is said whole
    else if (typeof other === "object" && typeof texts[name] === "object") put(texts[name], other);
    else texts[name] = other;
  }
}
