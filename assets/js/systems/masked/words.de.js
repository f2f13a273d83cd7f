/** Die Sätze über einen Block von Zellen. */

import { many } from "../../../text/many.js";

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  CELLS: {
    pass: (place, pass) => `${place} \u00b7 Durchlauf ${pass}`,
    says: (x) =>
      x.searched
        ? `${x.name}: Kandidaten für ${many(x.cells, "Zelle", "Zellen")} aus einem Durchlauf. Die gerahmten sind die Zeile, die sich am besten liest; sie ging als Gewissheit nach oben.`
        : `${x.name}: ${many(x.cells, "Zelle", "Zellen")} in ${many(x.passes, "Durchlauf", "Durchläufen")} gefüllt.`,
    cell: (some, state) => `${some.map(({ text, went }) => (went ? `[${text}]` : text)).join(", ")} ${state}`.trim(),
  },
};
