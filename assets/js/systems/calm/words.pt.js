/** O que a página diz de tokens que saem cedo. */

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  CALM: {
    figure: [
      "camadas por token",
      "a camada média em que um token deixou o modelo; as camadas acima receberam uma cópia do seu estado. Os blocos nas raias ficam acesos até ela",
    ],
    call: (layers, sure) => `saiu após a camada ${layers}, certeza ${sure}`,
  },
};
