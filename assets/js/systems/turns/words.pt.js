/** O que a página diz de dois modelos em turnos. */

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  TURNS: {
    figure: [
      "pelo modelo grande",
      "tokens que o modelo grande escreveu; os outros são do pequeno, pálidos nas raias. A linha é a entropia média dos últimos tokens: a partir do limiar tracejado escreve o modelo grande",
    ],
    share: (percent) => `${percent} %`,
    call: (large, bits) => `pelo modelo ${large ? "grande" : "pequeno"}, entropia de ${bits} bits`,
  },
};
