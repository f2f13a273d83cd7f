/** Leis de escala da aceitação, em Dados. */

import { count, fixed } from "../../../text/numbers.js";

const percent = (/** @type {number} */ share, digits = 0) => `${fixed(100 * share, digits)} %`;
const large = (/** @type {number} */ n) =>
  n < 1e6 ? `${count(Math.round(n / 1000))} mil` : `${fixed(n / 1e6, 1)} ${n < 2e6 ? "milhão" : "milhões"}`;
const layersOf = (/** @type {number} */ n) => `${n} ${n === 1 ? "camada" : "camadas"}`;

/** @type {Record<string, string>} */
const TEXTS = { held_out: "prompts reservados das mesmas fontes", other: "textos que nenhum treino leu" };

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  SCALING: {
    title: "O que o treino compra",
    about: "aceitação por tokens de treino e por tamanho; o que mais uma hora acrescentaria",
    lead: (preset, x, { texts }) =>
      `O rascunho ${x.draft.name}${x.draft.fed ? " (alimentado)" : ""} de ${preset}, treinado do zero em partes encaixadas de até ${count(x.tokens)} tokens que o seu alvo escreveu, cada uma lida ${x.epochs === 1 ? "uma vez" : `${x.epochs} vezes`}, com uma seed e os mesmos hiperparâmetros; depois em outros tamanhos. Segundo Scylla (arXiv 2505.07858). Julgado por ${Object.entries(
        texts,
      )
        .map(([name, n]) => `${n} ${TEXTS[name]}`)
        .join(" e ")}; ${x.machine}, ${x.day}.`,
    unreachable: "O servidor não conseguiu enviar a série de treinos; abra esta aba de novo para tentar.",
    command: "Comando",
    texts: TEXTS,
    gates: { gate: "com cópias", own: "sem cópias" },
    between: (low, high) => `${low} a ${high}`,
    low: "de",
    high: "até",
  },
  OVER_TOKENS: {
    rate: {
      title: (texts) => `Taxa de aceitação por tokens de treino: ${texts}`,
      text: "Medido. Parte dos tokens julgados que são aceitos, em rodadas de quatro tokens rascunhados ao longo do que o alvo escreve com greedy.",
      axis: "taxa de aceitação",
      hover: "%{fullData.name}<br>%{x:,} tokens: %{y:.1%} (%{customdata})<extra></extra>",
      unit: " pontos",
    },
    passes: {
      title: (texts) => `Tokens por passagem do alvo, por tokens de treino: ${texts}`,
      text: "Medido nas mesmas rodadas. Scylla chama este número de taxa de aceitação: quantos tokens uma passagem do alvo rende.",
      axis: "tokens por passagem",
      hover: "%{fullData.name}<br>%{x:,} tokens: %{y:.2f} por passagem (%{customdata})<extra></extra>",
      unit: "",
    },
    told: (law, said) =>
      `${said.step(law.slope[0])}${said.unit} (${said.step(law.slope[1])} a ${said.step(law.slope[2])}); o maior: previsto ${said.value(law.predicted[0])}, medido ${said.value(law.measured[0])}`,
    text: (gate, own) =>
      `O que uma duplicação dos dados comprou, com cópias: ${gate}. Sem: ${own}. A reta é ajustada sem o maior treino (anel: o que ela diz ali); pontilhado: todos os treinos, até no máximo quatro vezes mais tokens.`,
    few: "Poucos treinos para uma reta que se pudesse verificar.",
    axis: "tokens de treino",
    copies: "cópias",
    line: (name) => `reta, ${name}`,
    predicted: (name) => `previsto, ${name}`,
    ahead: (name) => `reta de todos os treinos, ${name}`,
    lineThere: "reta",
    off: "acima da reta",
  },
  SIZES: {
    title: "Taxa de aceitação por tamanho",
    text: (tokens, texts) =>
      `Medido. Rascunhos de uma e duas camadas próprias, com cabeças reduzidas de tamanhos diferentes, cada um treinado nos mesmos ${count(tokens)} tokens; julgados por ${texts}. Um token rascunhado lê todos estes pesos, um byte cada com 8 bits.`,
    size: (layers, rows) => `${layersOf(layers)}, ${count(rows)} linhas`,
    axis: "camadas próprias, linhas da cabeça, pesos lidos por token rascunhado",
    tick: (layers, rows, millions) => `${layersOf(layers)}<br>${count(rows)} linhas<br>${fixed(millions, 1)} M`,
    weights: "milhões de pesos lidos por token rascunhado",
    rate: "taxa de aceitação",
    draft: "rascunho",
    share: "dos do alvo",
    seconds: "segundos de núcleo de treino",
    copies: "cópias",
    hover: "%{fullData.name}<br>%{text}: %{y:.1%} (%{customdata})<extra></extra>",
  },
  HOUR: {
    title: "O que mais uma hora de treino compraria",
    text: (x, texts) =>
      `Previsto, não executado. Uma hora de um núcleo lê ${large(x.per_hour)} ${x.per_hour < 1e6 ? "tokens" : "de tokens"}. ${
        x.hours < 0.995
          ? `A reta é seguida no máximo até quatro vezes os tokens, ${large(x.tokens)}, o que leva ${Math.round(60 * x.hours)} minutos`
          : `Com eles, o rascunho terá aprendido ${large(x.tokens)}`
      }: taxa de aceitação ${percent(x.acceptance.now[0], 1)} medida, ${percent(x.acceptance.then[0], 1)} prevista (${percent(x.acceptance.then[1], 1)} a ${percent(x.acceptance.then[2], 1)}), ${texts}. Tokens/s: a recursão do planejador com os custos do perfil desta máquina, comprimentos de bloco escolhidos de novo.`,
    after: (tokens) => `previsto após ${large(tokens)} ${tokens < 1e6 ? "tokens" : "de tokens"}`,
    axis: "tokens/s previstos",
    plain: "decodificação simples",
    plainHover: "%{fullData.name}: %{y:.1f} tokens/s<extra></extra>",
    stack: "pilha",
    learned: "tokens de treino",
    hover: "%{x}<br>%{fullData.name}: %{y:.1f} tokens/s (%{customdata})<extra></extra>",
  },
  LOAD: {
    title: "Com mais pedidos ao mesmo tempo",
    text: (measured) =>
      `Previsto, não executado: o eixo de pedidos do Scylla. Só o rascunho, contra a decodificação simples de tantos pedidos ao mesmo tempo, pela recursão do planejador no melhor comprimento de bloco. Os pedidos dividem cada passada, então cada token rascunhado custa mais e menos deles compensam. ${measured ? "As passadas conjuntas do alvo foram medidas." : "Onde as passadas conjuntas do alvo não foram medidas, uma custa o que custa uma passada de tantas linhas."}`,
    after: (tokens) => `após ${large(tokens)} ${tokens < 1e6 ? "tokens" : "de tokens"}`,
    axis: "pedidos ao mesmo tempo",
    gain: "aceleração",
    learned: "tokens de treino",
    block: "comprimento de bloco T",
    hover:
      "%{fullData.name}<br>%{x} ao mesmo tempo: %{y:.2f} vezes a decodificação simples, T = %{customdata}<extra></extra>",
  },
};
