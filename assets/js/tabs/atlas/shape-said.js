/** A system's drawing in words. */

import { levelPhrase } from "../../shared/levels/stack-names.js";
import { shapeOf, sizeOf } from "./shape.js";
import { DRAWN } from "../../../text/en/atlas.js";

/** @param {{shape: string}} system */
export function shapeSaid({ shape }) {
  const { floors, lanes } = shapeOf(shape);
  const name = (/** @type {string} */ kind) => DRAWN.floor[kind] ?? levelPhrase(kind);
  const drafters = (/** @type {string[]} */ kinds) => kinds.map(name).join(DRAWN.and);
  const said = floors.slice(0, -1).map(({ kind, others, hand }, i) => {
    const above = name(floors[i + 1].kind);
    if (!hand) return DRAWN.turns(name(kind), above);
    const what = DRAWN.hand[hand.form](sizeOf(hand));
    return kind ? DRAWN.judged(drafters([kind, ...others]), what, above) : DRAWN.rewritten(what, above);
  });
  const sentences = said.map((one) => `${one[0].toUpperCase()}${one.slice(1)}.`);
  return [...sentences, ...(lanes ? [DRAWN.lanes(floors.length)] : []), DRAWN.written].join(" ");
}
