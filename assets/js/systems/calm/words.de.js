/** Was die Seite von Token sagt, die früh aussteigen. */

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  CALM: {
    figure: [
      "Schichten je Token",
      "die mittlere Schicht, nach der ein Token das Modell verließ; die Schichten darüber bekamen eine Kopie seines Zustands. Blöcke in den Bahnen leuchten bis dorthin",
    ],
    call: (layers, sure) => `ausgestiegen nach Schicht ${layers}, sicher zu ${sure}`,
  },
};
