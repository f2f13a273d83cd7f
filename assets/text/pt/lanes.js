/** Tempos e números: o destaque, as raias e a linha de números acima delas. */

import { many } from "../many.js";

const few = (/** @type {number} */ n, first = false) => {
  const word = ["duas", "três", "quatro"][n - 2] ?? String(n);
  return first ? word.charAt(0).toUpperCase() + word.slice(1) : word;
};
const clocks = (/** @type {number} */ n) => (n === 2 ? "dois" : few(n));

/** @type {import("../language.js").Translation<typeof import("../en/lanes.js")>} */
export const WORDS = {
  CLOCKS: {
    reckoned: {
      name: "relógio calculado",
      short: "calculado",
      at: "relógio",
      said: "Calculado: cada passagem foi executada e cronometrada sozinha e depois posta no relógio da sua raia: o que se teria com uma máquina deste tipo para cada raia.",
    },
    real: {
      name: "relógio real, duas raias",
      short: "real",
      at: "relógio",
      said: "Real: as duas raias trabalharam ao mesmo tempo em uma máquina, cada uma um processo com uma thread em um núcleo próprio. Gravado por uma versão anterior.",
    },
    simulated: {
      name: "relógio simulado",
      short: "simulado",
      at: "nenhum modelo rodou",
      said: "Simulado: nenhum modelo rodou.",
    },
  },

  COUNT: { few },

  HEADLINE: {
    formula:
      "tokens/s até este momento / tokens/s da decodificação simples do mesmo alvo, prompt e semente; ambos no relógio do motor, sem o prefill",
    rateOf: { simulated: "tokens/s simulados", reckoned: "tokens/s calculados", real: "tokens/s reais" },
    rate: "tokens/s",
    waiting: "medindo a decodificação simples",
    gainOf: { simulated: "aceleração simulada", reckoned: "aceleração calculada", real: "aceleração real" },
    gain: "a decodificação simples",
    against: (now, plain) => `${now} contra ${plain} tokens/s`,
    where: (machine) => `um prompt${machine ? `, ${machine.split(",")[0]}` : ""}`,
    itself: "esta é a decodificação simples",
    none: "a simples não foi medida",
    later: "a decodificação simples roda depois",
  },

  LANES: {
    picture: (clock) => (clock ? `raias, ${clock}` : "raias"),
    rests: (name) => `${name}: fora do plano`,
    head: ["nível", "chamadas", "linhas", "tempo"],
    layers: "camadas executadas",
    what: { draft: "rascunhou", verify: "verificou", prefill: "prefill" },
    call: (round, rows, probes = 0) =>
      `rodada ${round}, ${many(rows, "linha", "linhas")}${probes ? `, ${probes} delas para a janela à frente` : ""}`,
    prefill: (rows) => `${many(rows, "token", "tokens")} do prompt`,
    drafts: (out, sequences = 1) => `${many(out, "saiu", "saíram")}${sequences > 1 ? `, ${sequences} candidatos` : ""}`,
    verifies: (into, out, rejected = 0) =>
      `${many(into, "entrou", "entraram")}, ${many(out, "saiu", "saíram")}${rejected ? `, ${many(rejected, "rejeitado", "rejeitados")}` : ""}`,
    label: "Raias: o que cada nível computou, em um só relógio",
    labelOf: {
      reckoned: (lanes) =>
        `Raias: o que cada nível computou, posto em ${clocks(lanes)} relógios como em ${few(lanes)} máquinas (calculado)`,
      real: (lanes) => `Raias: o que cada nível computou, em ${clocks(lanes)} processos ao mesmo tempo (real)`,
      simulated: (lanes) => `Raias: o que cada nível computaria, ${clocks(lanes)} ao mesmo tempo (simulado)`,
    },
    titleOf: {
      reckoned: (lanes) => `${few(lanes, true)} raias, calculadas`,
      real: (lanes) => `${few(lanes, true)} raias, reais`,
      simulated: (lanes) => `${few(lanes, true)} raias, simuladas`,
    },
    used: (x) =>
      `alvo trabalhando ${x.target} do tempo, ${x.below}, ${x.more ? "dois ou mais" : "ambos"} ao mesmo tempo ${x.both}; ganho da sobreposição ${x.gain}; ${many(x.dropped, "token rascunhado descartado", "tokens rascunhados descartados")}, ${x.waste} de todas as linhas em vão`,
    meanwhile: (x) =>
      `rodada ${x.round}: enquanto o alvo verificava, ${x.who} escreveu ${many(x.drafted, "token", "tokens")}; ${
        x.kept ? "nenhum foi descartado" : "um token anterior foi rejeitado, e o que veio depois dele foi descartado"
      }`,
    alone: (round) => `rodada ${round}: nada foi rascunhado enquanto o alvo verificava`,
    focus: "Raias; com as setas, a rodada anterior e a seguinte",
    below: (share) => `níveis abaixo dele ${share}`,
    level: (name, share) => `${name} ${share}`,
    atWork: (name) => `${name} trabalhando`,
    two: "dois ou mais trabalhando",
    share: "parte do tempo",
    lane: {
      target: "alvo trabalhando",
      below: "níveis abaixo dele trabalhando",
      both: "ambos trabalhando",
      gain: "ganho da sobreposição",
      dropped: "tokens rascunhados descartados",
      waste: "linhas computadas em vão",
    },
    vain: (kind, tokens) =>
      kind === "verify"
        ? "em vão: algo anterior foi rejeitado"
        : `${many(tokens, "descartado", "descartados")} sem julgamento: algo anterior foi rejeitado`,
    whole: "execução inteira",
    last: "últimas rodadas",
    shownWhole: "Mostrando a execução inteira. Aperte para ver as rodadas em torno do cursor",
    shownLast: "Mostrando as rodadas em torno do cursor. Aperte para ver a execução inteira",
    timeline: (rounds, time) =>
      `Linha do tempo de ${many(rounds, "rodada", "rodadas")}, ${time}; a tabela a seguir tem os totais.`,
    caption: "Trabalho por nível na execução inteira",
    theta: (at) => `limiar θ ${at}`,
  },

  TALLY: {
    figures: {
      forward: ["por passagem do alvo", "tokens confirmados / forwards do alvo, com correções e bônus incluídos"],
      kept: ["dos rascunhos mantidos", "tokens confirmados que foram rascunhados embaixo / tokens rascunhados embaixo"],
      first: ["até o primeiro token", "prefill e primeira rodada, no relógio do motor"],
      layers: [
        "camadas por token",
        "camadas lidas pelos níveis que compartilham os pesos do alvo / tokens confirmados; a decodificação simples lê todas as camadas para cada token. As poucas camadas próprias de um rascunho não são contadas",
      ],
      both: ["ambos trabalhando", "tempo em que pelo menos duas raias estão trabalhando / tempo de decodificação"],
      moved: [
        "entre dispositivos",
        "ids, probabilidades e estados que passaram entre processador e acelerador para rascunhos e verificações / tokens confirmados, e o tempo de todas essas cópias no relógio do próprio dispositivo",
      ],
      equal: [
        "iguais à decodificação simples",
        "guloso: ids iniciais iguais aos da decodificação simples, entre todos; execuções amostradas coincidem só na distribuição",
      ],
    },
    moves: (kb, ms) => `${kb} kB por token, ${ms} ms ao todo`,
    of: (part, all) => `${part} de ${all}`,
    equal: (share) => `${share} iguais`,
    margin: (share, margin) => `${share} (margem ${margin ?? "desconhecida"})`,
    simulated: "simulado",
    noModel: "nenhum modelo rodou",
    simulatedTip: (tip) => `simulado: ${tip.replaceAll("medid", "simulad")}`,
    depths: "Em que camada o modelo já sabia?",
    depthsTip: "abaixo: a probabilidade que cada camada dá a cada token deste texto",
    noDepths:
      "não medidas nesta execução: marque “medir as profundidades depois da execução” nas configurações e gere de novo",
    whyNoDepths: (why) => `Profundidades: ${why}.`,
  },
};
