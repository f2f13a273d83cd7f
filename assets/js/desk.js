/** The first screen, for parts that stand in other tabs and drive it: where it can be reached, and when it has drawn. */

/** @type {(stage: any) => void} */
let found = () => {};
/** @type {Promise<any>} the first screen, when it shows something */
export const stageHere = new Promise((resolve) => (found = resolve));

/** @type {Set<() => void>} */
const hearing = new Set();

/** @param {any} stage */
export const offer = (stage) => found(stage);

/** Calls `f` after every drawing of the first screen. @param {() => void} f @returns {() => void} ends that */
export function onDrawn(f) {
  hearing.add(f);
  return () => hearing.delete(f);
}

export function drawn() {
  for (const f of hearing) f();
}
