/** Was die Seite von zwei Modellen im Wechsel sagt. */

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  TURNS: {
    figure: [
      "vom großen Modell",
      "Token, die das große Modell schrieb; die anderen schrieb das kleine, blass in den Bahnen. Die Linie ist die mittlere Entropie der letzten Token: ab der gestrichelten Schwelle schreibt das große Modell",
    ],
    share: (percent) => `${percent} %`,
    call: (large, bits) => `vom ${large ? "großen" : "kleinen"} Modell, Entropie ${bits} Bit`,
  },
};
