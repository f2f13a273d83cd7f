/** The first screen, for parts that stand in other tabs and drive it: where it can be reached, and when it has drawn. */

/** What parts in other tabs may do with the first screen.
 *  @typedef {{
 *    el: HTMLElement, feed: import("../run/trace.js").Feed, player: import("./player.js").Player,
 *    settings: Readonly<Record<string, any>>, stack: () => string, show: (settings: Record<string, any>) => void,
 *    record: (name: string) => Promise<void>, press: (serial: number) => void, lend: (panels: string[]) => void,
 *    isSame: () => boolean|undefined, recordings: {name: string, title: string}[]}} Reach
 *    stack: as the composer has it; show: with other settings, `stack` into the composer; record: a recording by its name,
 *    without an entry of its own in the history; press: opens the card of a token; lend: opens panels as long as a lesson
 *    needs them, [] gives them back; isSame: whether the composer holds the stack of the run that is shown; recordings: all
 *    there are */

/** @type {(reach: Reach) => void} */
let found = () => {};
/** @type {Promise<Reach>} the first screen, when it shows something */
export const stageHere = new Promise((resolve) => (found = resolve));

/** @type {Set<() => void>} */
const hearing = new Set();

/** @param {Reach} reach */
export const offer = (reach) => found(reach);

/** Calls `f` after every drawing of the first screen. @param {() => void} f @returns {() => void} ends that */
export function onDrawn(f) {
  hearing.add(f);
  return () => hearing.delete(f);
}

export function drawn() {
  for (const f of hearing) f();
}
