/** As frases do mapa das subcamadas. */

import { many } from "../../../text/many.js";
import { fixed } from "../../../text/numbers.js";

const percent = (/** @type {number} */ share) => `${Math.round(100 * share)}\u202f%`;
const named = (/** @type {string} */ kind) => (kind === "attention" ? "atenção" : kind);

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  LADDER: {
    title: "O que se perde sem cada subcamada",
    kinds: { attention: "atenção", mlp: "MLP" },
    layer: "camada",
    cell: (kind, layer, lost, out) =>
      `${named(kind)} da camada ${layer}: só sem ela, ${percent(lost)} dos tokens do alvo se perdem${out ? "; omitida aqui" : ""}`,
    picture: (layers, heavy) =>
      `${layers} camadas da esquerda para a direita, a atenção acima da MLP, mais escuro onde se perde mais. O máximo: ${heavy.join(", ")}.`,
    heavy: (kind, layer, lost) => `${named(kind)} ${layer} (${percent(lost)})`,
    slider: "omitidas, da mais barata à mais cara",
    none: "Nada omitido: o próprio alvo, que concorda consigo mesmo.",
    step: (count, agree, left, gain) =>
      `${many(count, "omitida")}: certo em ${percent(agree)} dos tokens, lê ${percent(left)} dos pesos; na melhor hipótese, ${fixed(gain, 2)}\u00d7 a decodificação simples.`,
    rows: "uma coluna por camada: em cima a atenção, embaixo a MLP",
    legend: { little: "perde-se pouco", all: "perde-se tudo", out: "omitida" },
    figures: "Todos os números",
    lost: "perdido só sem ela",
    read: (places, texts, machine) =>
      `Cada uma sozinha, em ${many(places, "token")} de ${many(texts, "texto")}, lidos como o primeiro de um rascunho. ${machine}. Na melhor hipótese: o rascunho custa a sua parte dos pesos, e cada um dos seus tokens concorda como o primeiro.`,
  },
};
