/** O que o Plano diz dos tipos de texto. */

import { fixed } from "../../../text/numbers.js";

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  CATEGORIES: {
    behind: [
      "Por tipo de texto",
      "aceitação em código, tradução e outros, e os melhores tamanhos de bloco para cada um",
    ],
    label: "Tipos de texto",
    asking: "Calculando…",
    answer: (easy, best, hard, other) =>
      `Os melhores tamanhos de bloco dependem do texto: ${best} para ${easy}, ${other} para ${hard}.`,
    same: (stack) => `Os mesmos tamanhos de bloco são os melhores para todo tipo de texto: ${stack}.`,
    note: (texts) =>
      `As aceitações foram contadas em: ${texts}; as acelerações são previstas com os custos deste perfil. Com seus próprios prompts: bench --prompts ARQUIVO --out PASTA, e abra PASTA/profile.json aqui.`,
    table: "Aceitações e melhores tamanhos de bloco por tipo de texto",
    head: (usual) => ["tipo de texto", "aceito, por nível", "melhores tamanhos de bloco", "aceleração", `com ${usual}`],
    share: (x) => fixed(x, 2),
    times: (x) => `${fixed(x, 2)}×`,
    use: "Usar",
    useTip: (kind) => `Pôr estes níveis, com os melhores tamanhos de bloco para ${kind}, na torre`,
  },
};
