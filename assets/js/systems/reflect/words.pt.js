/** O que a página diz de uma segunda leitura. */

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  REFLECT: {
    first: "primeira leitura",
    second: "segunda leitura",
    says: (rows) =>
      `O modelo leu o rascunho duas vezes em uma passada: mais ${rows} linhas. Ele julga por uma mistura das duas.`,
  },
};
