/** As frases de um bloco de células. */

import { many } from "../../../text/many.js";

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  CELLS: {
    pass: (place, pass) => `${place} \u00b7 passagem ${pass}`,
    says: (x) =>
      x.searched
        ? `${x.name}: candidatos para ${many(x.cells, "célula", "células")} de uma só passagem. Os emoldurados são a linha que se lê melhor; ela subiu como certeza.`
        : `${x.name}: ${many(x.cells, "célula preenchida", "células preenchidas")} em ${many(x.passes, "passagem", "passagens")}.`,
    cell: (some, state) => `${some.map(({ text, went }) => (went ? `[${text}]` : text)).join(", ")} ${state}`.trim(),
  },
};
