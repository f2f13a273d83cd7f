/** A pilha padrão de uma máquina. */

/** @param {[string, string]|null} ends */
const range = (ends) => (ends ? ` (${ends[0]} a ${ends[1]})` : "");
const on = (/** @type {string} */ day) => day && `, ${day}`;

/** @type {import("../language.js").Translation<typeof import("../en/default-stack.js")>} */
export const WORDS = {
  DEFAULT_STACK: {
    title: "A pilha padrão nesta máquina",
    label: "a pilha padrão nesta máquina",
    measured: (day) => `É a mais rápida pelos tempos medidos na calibração desta máquina${on(day)}.`,
    quick: (day) => `É a mais rápida pelos tempos medidos na calibração de 20 segundos desta máquina${on(day)}.`,
    shipped: (machine, day) =>
      `É a mais rápida pelos tempos medidos na máquina mais parecida com esta: ${machine}${on(day)}.`,
    preset: "Seus comprimentos de bloco são os do próprio preset: não se conhece aqui um perfil dos seus níveis.",
    pinned: "Seus comprimentos de bloco são os do próprio preset, como este servidor foi instruído a mantê-los.",
    brief: {
      measured: "A pilha padrão aqui, a mais rápida pela calibração desta máquina",
      quick: "A pilha padrão aqui, a mais rápida pela calibração de 20 segundos desta máquina",
      shipped: "A pilha padrão aqui, a mais rápida pelo perfil mais próximo desta máquina",
      preset:
        "A pilha padrão aqui, com os comprimentos de bloco do próprio preset: não se conhece um perfil dos seus níveis",
    },
    briefly: (from, more, ends) =>
      more ? `${from}; previsto ${more}×${range(ends)} os dois melhores níveis.` : `${from}.`,
    alone: (gain) => `Previsto: ${gain}× o modelo sozinho.`,
    over: (gain, more, ends) => `Previsto: ${gain}× o modelo sozinho e ${more}×${range(ends)} os dois melhores níveis.`,
    overTip:
      "a melhor pilha de dois níveis em todo o perfil, pela mesma teoria; a faixa: cada aceitação em um dos extremos do seu intervalo de 95 %",
    go: "Medir esta máquina (20 s)",
    again: "Medir de novo (20 s)",
    goTip:
      "passa alguns textos curtos pelos níveis da pilha padrão, quando não há execução de mais ninguém em andamento, e planeja com isso a pilha; nada sai desta máquina",
    stop: "Parar",
    stopping: "Parando…",
    asking: "pedindo um lugar na fila",
    progress: "parte medida",
    stoppedEarly: "Parado; nada foi guardado.",
    unreachable: "O servidor não pode ser alcançado; nada foi medido.",
    found: (stack) => `Medido. A pilha padrão passa a ser ${stack}.`,
    same: (stack) => `Medido. A pilha padrão continua sendo ${stack}.`,
    use: "Usar",
    way: "Medir esta máquina (20 s)",
  },
};
