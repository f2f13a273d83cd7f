/** The sentences of a block of cells. */

import { translate } from "../../../text/language.js";
import { many } from "../../../text/many.js";

export const CELLS = {
  pass: (/** @type {number} */ place, /** @type {number} */ pass) => `${place} \u00b7 pass ${pass}`,
  says: (/** @type {{name: string, cells: number, passes: number, searched: boolean}} */ x) =>
    x.searched
      ? `${x.name}: candidates for ${many(x.cells, "cell")} from one pass. The framed ones are the line that reads best; it went up as a certainty.`
      : `${x.name}: ${many(x.cells, "cell")} filled in ${many(x.passes, "pass", "passes")}.`,
  cell: (/** @type {{text: string, went: boolean}[]} */ some, /** @type {string} */ state) =>
    `${some.map(({ text, went }) => (went ? `[${text}]` : text)).join(", ")} ${state}`.trim(),
};

translate("systems/masked", { CELLS });
