/** What a ladder of sublayers says: how much each is worth alone, and which are out after so many steps. */

/**
 * @typedef {{kind: string, layer: number, agree: number}} Sublayer `agree`: the share of tokens kept without it
 * @typedef {{preset: string, layers: number, places: number, texts: number, machine: string, command: string, answer: string,
 *   alone: Sublayer[], path: (Sublayer & {left: number, speed_up: number})[]}} Ladder as hsd_core/systems/skip/page.py declares it
 */

export const KINDS = ["attention", "mlp"]; // of a layer, in the order in which they run

/** What is lost without a sublayer alone. @param {Sublayer} one */
export const lost = ({ agree }) => Math.max(0, Math.min(1, 1 - agree));

/** The sublayers that cost most, dearest first. @param {Ladder} ladder @param {number} count */
export const heaviest = ({ alone }, count) => [...alone].sort((a, b) => a.agree - b.agree).slice(0, count);

/** Whether the first steps of the path leave a sublayer out. @param {Ladder} ladder @param {number} steps @param {Sublayer} one */
export const isOut = ({ path }, steps, { kind, layer }) =>
  path.slice(0, steps).some((step) => step.kind === kind && step.layer === layer);
