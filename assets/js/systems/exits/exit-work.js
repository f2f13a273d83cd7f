/** What an exit and its target compute in a round, place by place and layer by layer, and what of it is computed once: the
 *  spans that the engine's traces have (`ran`). */

/**
 * @typedef {{lo: number, hi: number, place: number, by: "exit"|"target"}} Cell layers lo to hi - 1 of the token at a place;
 *   place 0: the last token of the text, then the guesses
 * @typedef {{cells: Cell[], read: {exit: number, target: number}, shared: number, again: number}} ExitWork read: layers
 *   whose weights are read; shared: layers times places that the target finds done; again: layers that only the bonus needs
 */

/**
 * @param {{layers: number, at: number, guesses: number, bonus: boolean}} round at: layers of the exit
 * @returns {ExitWork}
 */
export function exitWork({ layers, at, guesses, bonus }) {
  /** @type {Cell[]} */ const cells = [];
  for (let place = 0; place < guesses; place++) cells.push({ lo: 0, hi: at, place, by: "exit" });
  // Each row behind a place judges the next guess; the one behind the last guess is the bonus's.
  for (let place = 0; place < guesses; place++) cells.push({ lo: at, hi: layers, place, by: "target" });
  if (bonus) cells.push({ lo: 0, hi: layers, place: guesses, by: "target" });
  return {
    cells,
    read: { exit: at * guesses, target: bonus ? layers : layers - at },
    shared: at * guesses,
    again: bonus ? at : 0,
  };
}
