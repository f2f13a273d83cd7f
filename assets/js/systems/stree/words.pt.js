/** O que se diz de um nível com uma soma corrente. */

import { many } from "../../../text/many.js";

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  STATE: {
    sum: "a soma corrente de todo o texto anterior",
    says: (x) =>
      `${x.name} mantém uma soma corrente do texto, e nenhuma chave. Em uma passada, cada um dos seus ${many(x.tokens, "token")} lê essa soma (à esquerda) e os tokens do seu próprio caminho: ${x.read} de ${x.all} células.`,
  },
};
