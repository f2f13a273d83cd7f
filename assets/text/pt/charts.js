/** Os gráficos ao vivo e os da execução. */

import { many } from "../many.js";

/** "de o modelo" como se diz. */
const said = (/** @type {string} */ text) =>
  text
    .replaceAll("de o modelo", "do modelo")
    .replaceAll("por o modelo", "pelo modelo")
    .replaceAll(" a o modelo", " ao modelo");

/** @type {import("../language.js").Translation<typeof import("../en/charts.js")>} */
export const WORDS = {
  CHARTS: {
    title: "Gráficos ao vivo",
    tip: "tempo, velocidade e aceitação, rodada por rodada, enquanto a execução é escrita",
    keys: "Gráficos ao vivo; as setas os leem rodada por rodada",
    picture: "gráficos ao vivo",
    onClock: (title, clock) => `${title}, ${clock}`,
    latency: "Tempo por rodada",
    speed: "Velocidade",
    yield: "Tokens/passagem",
    acceptance: "Aceitos",
    formulas: {
      latency: "ms de cada rodada no relógio do motor, empilhados por nível",
      speed:
        "tokens confirmados / tempo de decodificação no relógio do motor até cada rodada, sem o prefill; tracejado: decodificação simples",
      yield:
        "tokens que cada rodada confirmou com uma passagem do alvo, incluindo o token do próprio alvo; tracejado: a média",
      acceptance:
        "parte dos tokens rascunhados que um nível aceitou: pontos para cada rodada, linhas para a execução até ali",
    },
    rate: "tokens/s",
    mean: "média",
    ofRound: (round) => `rodada ${round}`,
    plain: (speed) => `simples ${speed}`,
    oneLevel: "Um só nível: nada a aceitar.",
    nothing: "nenhuma rodada ainda",
    heard: {
      round: (round, rounds) => `rodada ${round} de ${rounds}`,
      latency: (whole, parts) => `${whole} (${parts})`,
      speed: (speed, plain) => (plain ? `${speed} tokens/s até aqui, simples ${plain}` : `${speed} tokens/s até aqui`),
      tokens: (tokens) => many(tokens, "token", "tokens"),
      accepted: (level, kept, judged) => `${level} aceitou ${kept} de ${judged}`,
    },
  },

  STUDY: {
    label: "Estudar esta execução",
    keys: (title) => `${title}: as setas leem valor por valor`,
    clocks: {
      simulated: "Simulado: nenhum modelo rodou. ",
      reckoned: "Calculado: cada passagem foi cronometrada sozinha e depois posta no relógio da sua raia. ",
      real: "Real: duas raias trabalhando ao mesmo tempo. ",
    },
    auto: (times) => `Auto: os níveis e os seus T mudaram ${many(times, "vez", "vezes")} durante a execução. `,
    by: (level) => said(`por ${level}`),
    acceptance: {
      title: "Aceitação por posição no bloco",
      text: "Com que frequência cada verificador manteve o token desta posição, entre os que julgou (um token depois de um rejeitado não é julgado).",
      x: "posição no bloco",
      y: "aceitos / julgados",
      hover: "posição %{x}: %{y:.0%} (%{customdata[0]} de %{customdata[1]})<extra></extra>",
      columns: ["verificador", "posição", "julgados", "aceitos", "parte"],
      heard: (level, position, share, accepted, judged) =>
        `${level}, posição ${position}: ${share}, ${accepted} de ${judged}`,
    },
    time: {
      title: "Para onde foi o tempo",
      text: "Tempo do motor em cada nível, sem o prefill. O tempo conta como perdido na proporção das linhas computadas para tokens que nunca foram confirmados.",
      kept: "para tokens que foram confirmados",
      lost: "para tokens que não foram",
      between: "entre os níveis",
      x: "ms de decodificação",
      hover: (name) => `%{x:.1f} ms<br>${name}<extra></extra>`,
      columns: ["nível", "prefill, ms", "rascunho, ms", "verificação, ms", "perdido, ms"],
      took: (time) => `${time} (amostragem, armazenamento)`,
      heard: (level, time, name) => `${level}: ${time} ms ${name}`,
    },
    tokens: {
      title: "Tokens ao longo do tempo",
      own: "esta pilha",
      plain: (simulated) => `decodificação simples, ${simulated ? "simulada" : "medida"}`,
      prefill: "prefill",
      x: "s no relógio do motor",
      y: "tokens confirmados",
      hover: "%{x:.2f} s: %{y} tokens<extra></extra>",
      columns: ["execução", "prefill, ms", "tokens", "fim, ms", "tokens/s"],
      planned: (round, stack) => `a partir da rodada ${round}: ${stack}`,
      text: (plain, plans) =>
        `Tokens confirmados depois de cada rodada, ao lado da decodificação simples do mesmo alvo com o mesmo prompt e a mesma semente.${
          plain ? "" : " A decodificação simples não foi medida nesta execução."
        }${plans ? ` Auto (linhas pontilhadas): ${plans}.` : ""}`,
      heard: (run, time, tokens) => `${run}: ${many(tokens, "token", "tokens")} depois de ${time} s`,
    },
  },
};
