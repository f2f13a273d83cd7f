/** Was die Seite von einem zweiten Lesen sagt. */

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  REFLECT: {
    first: "erstes Lesen",
    second: "zweites Lesen",
    says: (rows) =>
      `Das Modell hat den Entwurf in einem Durchlauf zweimal gelesen: ${rows} Zeilen mehr. Es urteilt nach einer Mischung aus beiden.`,
  },
};
