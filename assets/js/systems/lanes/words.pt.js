/** O que a página diz de níveis que trabalham ao mesmo tempo: a figura de uma lição e uma pergunta do planejador. */

import { fixed } from "../../../text/numbers.js";

const whole = (/** @type {number} */ share) => {
  const percent = 100 * share;
  return percent > 0 && percent < 10 && Math.abs(percent - Math.round(percent)) > 0.05
    ? fixed(percent, 1)
    : String(Math.round(percent));
};

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  LOCK_STEP: {
    label: "Rascunhar e verificar, um de cada vez e ao mesmo tempo",
    a: { label: "aceitação a" },
    g: { label: "tokens de um bloco" },
    d: { label: "custo de um rascunho, em passagens" },
    key: ["rascunhar", "verificar"],
    turn: "um de cada vez",
    step: "duas máquinas",
    yields: (tokens, time) => `${tokens} tokens no tempo de ${time} passagens`,
    ran: (gain, apart) =>
      `A própria execução, cujas passagens de várias linhas custam mais, foi ${gain} vezes mais rápida ${apart ? "em duas raias" : "com um de cada vez"}.`,
    says: (x) =>
      `Uma rodada fica no máximo ${x.bound} vezes mais rápida. Por esta fórmula, em que uma passagem custa o mesmo com qualquer número de linhas e cada token é mantido do mesmo modo: ${x.turn} vezes a velocidade da decodificação simples com um de cada vez, ${x.step} em duas máquinas. Com o melhor bloco: ${x.best[0][0]} com um de cada vez (${x.best[0][1]} tokens), ${x.best[1][0]} em duas máquinas (${x.best[1][1]}). ${
        x.pays
          ? "A segunda máquina compensa."
          : x.loses
            ? "A segunda máquina não compensa: um de cada vez é igual ou mais rápido."
            : "Nenhum dos dois é mais rápido do que a decodificação simples."
      }`,
  },
  SECOND: {
    behind: ["Uma segunda máquina compensaria?", "níveis que trabalham ao mesmo tempo, calculados"],
    label: "uma segunda máquina compensaria?",
    asking: "perguntando ao planejador…",
    yes: (stack, gain, ms, one) =>
      `Sim, calculado: ${stack}, em duas máquinas, seria ${gain} vezes mais rápida do que a melhor pilha em uma: ${ms} contra ${one} ms por token.`,
    no: (stack, ms, one) =>
      `Não sobreponha: a melhor em duas máquinas (${stack}) levaria ${ms} ms por token, a melhor em uma leva ${one}.`,
    none: "Não sobreponha: todos os rascunhos aqui leem os últimos estados do alvo, então não podem rodar em outra máquina.",
    clock:
      "Calculado: cada passagem foi cronometrada sozinha e depois posta em dois relógios, um do alvo e um do que rascunha para ele. É o que uma segunda máquina deste tipo daria; a pilha recomendada continua sendo a de uma máquina.",
    gainsBy: (name, gain, ms, one) =>
      `${name} ganha ${gain} vezes: ${ms} ms por token em duas máquinas, ${one} em uma.`,
    loses: (name, ms, one) => `Não sobreponha ${name}: ${ms} ms por token em duas máquinas, ${one} em uma.`,
    even: (name, ms) => `Para ${name} não faz diferença: ${ms} ms por token em duas máquinas e em uma.`,
    because: (share, a, pays) => {
      const cost = `Um token dele custa ${whole(share)} % de uma passagem do alvo, que aceita ${whole(a)} %.`;
      if (!pays) return `${cost} Com essa concordância, sobrepor não compensa a nenhum custo.`;
      if (share < pays[0])
        return `${cost} Com essa concordância, sobrepor compensa a partir de ${whole(pays[0])} %: um rascunho mais barato é melhor terminar antes.`;
      return `${cost} Com essa concordância, sobrepor compensa no máximo até ${whole(pays[1])} %.`;
    },
    needs: (level) =>
      `${level} lê os últimos estados do alvo, então isto tem um preço, mas não pode rodar em separado.`,
    busy: (verifying, drafting) =>
      `A máquina do alvo está ocupada ${whole(verifying)} % do tempo, a outra ${whole(drafting)} %.`,
    here: (gain) => `Com estes números, duas máquinas são ${gain} vezes mais rápidas do que o melhor modo em uma.`,
    hereNo: (gain) =>
      `Com estes números, não sobreponha: duas máquinas chegam a ${gain} vezes a velocidade do melhor modo em uma.`,
    hereEven: "Com estes números não faz diferença.",
    constant: "Um rascunho no mesmo passo (PEARL), custos que não crescem com as linhas.",
    costs: "Um token rascunhado custa",
    accepts: "O alvo aceita",
    ofPass: (share) => `${whole(share)} % de uma passagem`,
    ofTokens: (share) => `${whole(share)} % dos tokens`,
    across: "um token rascunhado, de uma passagem do alvo",
    upright: "aceito pelo alvo",
    percent: (share) => `${whole(share)} %`,
    ms: (ms) => `${ms} ms`,
    times: (gain) => `${fixed(gain, 2)}\u00d7`,
    same: "nenhuma diferença",
    band: (low, high) =>
      low === undefined
        ? `menos de ${high}\u00d7`
        : high === undefined
          ? `${low}\u00d7 e mais`
          : `${low} a ${high}\u00d7`,
    bands: "velocidade em duas máquinas, dividida pela do melhor modo em uma",
    use: "Usar esta pilha",
    useTip: "põe a pilha no compositor de Explorar, onde ela roda com um relógio calculado",
    cannotUse: "Aqui não há pesos para um nível desta pilha.",
    show: (name) => `mostrar ${name} no mapa`,
    drafters: "o que pode rascunhar para o alvo",
    drafterHead: ["rascunha", "ganho", "", "um token custa", "aceito", "em uma máquina", "em duas, calculado", "raias"],
    lockStep: "no mesmo passo (pearl)",
    free: "livre (ahead)",
    verdicts: { yes: "ganha", no: "não sobreponha", even: "nenhuma diferença" },
    pricedOnly: "não pode rodar em separado",
    corner: "aceito \u2193 custa \u2192",
    map: "ganho de uma segunda máquina, por aceitação e custo",
    asTable: "o mapa como tabela",
  },
};
