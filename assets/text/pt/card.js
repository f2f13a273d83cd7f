/** O cartão de um token. */

import { many } from "../many.js";
import { local } from "../numbers.js";

const NBSP = "\u00a0";

/** @type {import("../language.js").Translation<typeof import("../en/card.js")>} */
export const WORDS = {
  CARD: {
    label: "Cartão do token",
    close: "Fechar o cartão",
    greedy: "Guloso (greedy): a primeira escolha de um nível = 1, todas as outras = 0;",
    sampled: "p, q e α vêm das distribuições que foram usadas;",
    bars: (laws) => `${laws} as barras são o softmax cru com temperatura 1.`,
    click: " Clique no token para ver as linhas de cada verificador.",
    states: { committed: "confirmado", tentative: "ainda não confirmado", gone: "fora do texto", future: "" },
    how: { draft: "rascunho", correct: "correção", bonus: "bônus" },
    itself: "O próprio alvo o sorteou: nada precisa verificá-lo.",
    unasked: (other) => `Não julgado: ${other} foi mantido no lugar dele ou antes dele.`,
    unjudged: "Nenhum verificador o julgou ainda.",
    lost: "Perdido com um token rejeitado antes dele, sem ser julgado.",
    supplied: "fornecido por",
    draftedAt: "rascunhado em",
    drawnAt: "sorteado em",
    id: "id",
    position: "posição",
    round: "rodada",
    roundIs: (nth, ms, perToken) =>
      `${nth}, ${ms}${NBSP}ms${perToken === null ? "" : `, ${perToken}${NBSP}ms por token`}`,
    chosen: "escolhido",
    drawnWith: "sorteado com p",
    drawn: "sorteado",
    times: (n) => `${many(n, "vez", "vezes")}, com reposição`,
    copied: "copiado de",
    copiedWhy: (alike, share) =>
      `${many(alike, "token anterior coincide", "tokens anteriores coincidem")}${share >= 1 ? "" : `, ${local(String(Math.floor(1000 * share) / 10))}${NBSP}% do seu q`}`,
    fates: {
      waiting: "em espera",
      kept: "mantido",
      rejected: "rejeitado",
      lost: "não julgado",
      unasked: "não julgado",
    },
    offered: (by) => `oferecidos para este lugar, na ordem em que ${by} os julga`,
  },

  VERDICT: {
    outcomes: { accepted: "aceito", rejected: "rejeitado", unjudged: "não julgado", spared: "poupado" },
    whose: (tag) => `de ${tag}`,
    notKept: (whose) => `as escolhas ${whose} não foram gravadas neste trace`,
    top: (whose, p) => `primeira escolha ${whose} (${p})`,
    among: (whose, most) => `fora dos ${most} mais prováveis ${whose}`,
    nth: (whose, nth, p) => `${nth}ª escolha ${whose} (${p})`,
    instead: (own, top, p) => `${own}; a primeira escolha é “${top}” (${p})`,
    block: "Regra block: α é h, a probabilidade de que o bloco seja mantido até aqui.",
    residual: "resíduo",
    certain: (outcome) => `certo: ${outcome}, sem precisar de moeda`,
    prefix: "mantido com um prefixo maior (regra block), sem precisar de moeda",
    matched: {
      accepted: "um token foi sorteado de p, e é este: mantido",
      rejected: "um token foi sorteado de p, e é outro: rejeitado",
    },
    coin: (u, sign, alpha, outcome) => `u ${u} ${sign} α ${alpha}: ${outcome}`,
    likeliest: (law) => `${law}: tokens mais prováveis`,
    oneHot: (law) => `${law}, one-hot`,
    others: "outros",
  },
};
