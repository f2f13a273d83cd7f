/** O que se diz de um nível com uma soma corrente. */

import { many } from "../../../text/many.js";

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  STATE: {
    sum: "a soma corrente de todo o texto anterior",
    says: (x) =>
      `${x.name} mantém uma soma corrente do texto, e nenhuma chave. Em uma passada, cada um dos seus ${many(x.tokens, "token")} lê essa soma (à esquerda) e os tokens do seu próprio caminho: ${x.read} de ${x.all} células.`,
  },
  MEMORY: {
    title: "O que um rascunho guarda",
    about: "bytes e tempo por tamanho do texto: chaves e valores ao lado de somas correntes",
    lead: (preset, x) =>
      `Dois rascunhos de ${preset} do mesmo tamanho: nano guarda chaves e valores de cada token, nano-states uma soma corrente, como os rascunhos de STree (arXiv 2505.14969). ${x.machine}, ${x.day}.`,
    unreachable: "O servidor não conseguiu enviar o que os rascunhos guardam; abra esta aba de novo para tentar.",
    command: "Comando",
    length: "tokens de texto",
    draft: "rascunho",
    bytes: {
      title: "O que fica guardado do texto",
      text: "Contado. Chaves e valores crescem com o texto. Uma soma não cresce; ao lado dela ficam as entradas dos últimos tokens, para que um rascunho possa ser desfeito.",
      axis: "MB",
      hover: "%{fullData.name}<br>%{x:,} tokens: %{y:.2f} MB<extra></extra>",
    },
    ms: {
      title: "Quanto leva mais um token rascunhado",
      text: "Medido, com intervalos de 95 %. Em textos curtos, chaves e valores são lidos mais depressa: o seu rascunho roda compilado, a soma não.",
      axis: "ms",
      hover: "%{fullData.name}<br>%{x:,} tokens: %{y:.2f} ms<extra></extra>",
    },
  },
};
