/** What a study of exits holds, as its figures ask for it. */

/** @typedef {{id: string, about: any, records: any[]}} Study */

/** @param {Study} study @param {string} what @returns {any[]} */
export const of = (study, what) => study.records.filter((one) => one.what === what);

/** Who stands behind a read-out of a record: [layers, name]. @param {[number, string]} pair @param {string} lens */
export const named = ([at, name], lens) => (name === "lens" ? `${lens}, ${at}` : name);

/** The quarter that its pairs were checked at. @param {Study} study */
export const quarterOf = (study) => of(study, "pair")[0]?.verifier[0] ?? Math.ceil(study.about.layers / 4);

/** The first row at which a map reaches a level for the smallest x, and that x; null where none does.
 *  @param {any[]} rows @param {number} level @returns {{x: number, y: number}|null} */
export function nearest(rows, level) {
  const found = rows.flatMap(({ y, x, z }) => {
    const at = z.findIndex((/** @type {number} */ value) => value >= level);
    return at < 0 ? [] : [{ x: x[at], y }];
  });
  return found.sort((a, b) => a.x - b.x || a.y - b.y)[0] ?? null;
}

/** How many levels a stack has below its target. @param {string} stack */
export const below = (stack) => stack.split(",").length - 1;
