/** O que a página diz de um juiz. */

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  JUDGE: {
    good: "bom",
    says: "Quão provável o juiz acha que cada token do rascunho é bom, depois que o modelo o leu. Um token rejeitado com mais que δ fica.",
  },
};
