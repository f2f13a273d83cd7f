/** As figuras das lições. */

import { many } from "../many.js";
import { count, fixed } from "../numbers.js";

const listed = (/** @type {string[]} */ parts) => parts.join(", ");
const percent = (/** @type {number} */ v) => `${Math.round(100 * v)}\u00a0%`;
const interval = (/** @type {string} */ low, /** @type {string} */ high) => `${low} a ${high}`;

/** @type {Record<string, string>} */
const LABELS = {
  text: "O texto de uma execução gravada",
  round: "Uma rodada de uma execução gravada",
  lanes: "O que cada nível fez e quando",
  roll: "As chamadas de uma rodada gravada",
};

/** "de o modelo" como se diz. */
const said = (/** @type {string} */ text) =>
  text
    .replaceAll("de o modelo", "do modelo")
    .replaceAll("por o modelo", "pelo modelo")
    .replaceAll(" a o modelo", " ao modelo");

/** @type {import("../language.js").Translation<typeof import("../en/pictures.js")>} */
export const WORDS = {
  MISSING: {
    label: "Uma figura que não está aqui",
    text: (kind) =>
      `Este passo tem uma figura (“${kind}”) de um sistema que não está instalado aqui. O texto ao lado vale sem ela.`,
  },

  MOVING: {
    label: (kind) => LABELS[kind] ?? "",
    play: "Reproduzir",
    back: "Um evento para trás",
    on: "Um evento para a frente",
  },

  CHART: {
    passes: "Tokens que cada passagem do alvo confirmou",
    pass: (n, tokens) => `passagem ${n}: ${tokens}`,
    mean: (mean) => `média ${mean}`,
    firstPasses: (first) =>
      `As primeiras passagens confirmaram ${first}; as outras ficam escondidas até você responder.`,
    allPasses: (passes, tokens, mean) =>
      `${many(passes, "passagem confirmou", "passagens confirmaram")} ${many(tokens, "token", "tokens")}: ${mean} por passagem em média. Uma coluna é uma passagem.`,
    byRows: "Tempo de uma passagem do alvo, pelo número de linhas",
    rows: (n) => many(n, "linha", "linhas"),
    median: (n) => `mediana de ${n}`,
    oneRow: (ms) => `Uma passagem sobre uma linha leva ${ms}.`,
    someRows: (rows) => `Medianas desta execução: ${listed(rows.map(([n, ms]) => `${ms} para ${n}`))} linhas.`,
    costs: "Quanto custa um token do texto",
    thisStack: "esta pilha",
    plain: "decodificação simples",
    engine: "o motor em torno dos níveis",
    costsSaid: (parts, rest) =>
      `Tempo para um token do texto, por nível: ${listed(parts.map(([tag, ms]) => `${tag} ${ms}`))}; em torno deles ${rest}.`,
    gains: "Velocidade em relação à decodificação simples",
    one: "A linha em 1 é a decodificação simples do mesmo alvo. Uma barra é o intervalo de 95 % sobre os prompts.",
    alone: "só esta execução: sem intervalo",
    interval,
    gainSaid: (x) =>
      x.alone
        ? `${x.stack}: ${x.text} vezes a velocidade da decodificação simples em uma execução.`
        : `${x.stack}: ${x.text} vezes a velocidade da decodificação simples (${interval(x.ends[0], x.ends[1])}).`,
  },

  YIELDS: {
    label: "Tokens por passagem e velocidade, pelo comprimento do bloco",
    a: { label: "aceitação a", text: (v) => fixed(v, 2) },
    n: { label: "palpites n", text: (v) => String(v) },
    c: { label: "custo do palpite, em passagens", text: (v) => fixed(v, 2) },
    key: {
      bar: "chance de uma passagem chegar até aqui",
      tokens: "tokens por passagem",
      ceiling: "o limite deles, 1 / (1 \u2212 a)",
      speed: "velocidade em relação à decodificação simples",
    },
    best: (n) => `melhor n: ${n}`,
    open: (a, n) =>
      `O primeiro token de uma passagem é certo; cada um dos seguintes vem com a = ${a} vezes a chance do anterior, até n = ${n}. O rendimento é a soma das barras.`,
    says: (x) =>
      `Com a = ${x.a} e n = ${x.n} uma passagem confirma ${x.tokens} tokens; nenhum comprimento dá mais que ${x.ceiling}. Se um palpite custa ${fixed(x.c, 2)} de uma passagem, são ${x.speed} vezes a decodificação simples; ${
        x.best ? `o melhor é n = ${x.best}: ${x.bestSpeed} vezes.` : "nenhum comprimento compensa."
      }`,
  },

  COIN: {
    label: "Distribuições de um lugar e o que resulta de muitos lançamentos",
    columns: {
      q: { name: "q", tip: "a distribuição da qual o rascunho foi sorteado" },
      p: { name: "p", tip: "a distribuição do nível que verifica" },
      both: { name: "mantido", tip: "min(p, q): rascunhos que são mantidos" },
      rest: { name: "resíduo", tip: "max(p \u2212 q, 0), ajustado para somar 1" },
      exact: { name: "exato", tip: "a distribuição do que resulta, calculada" },
      out: { name: "lançado", tip: "a parte de cada token nos seus lançamentos" },
    },
    of: (tag, law) => `${law} de ${tag}`,
    once: "Lançar uma vez",
    many: (n) => `Lançar ${count(n)} vezes`,
    again: "Recomeçar",
    share: "distância do rascunho a p",
    wrong: "trocar a partir de p (errado)",
    open: "Um rascunho é sorteado de q. Ele é mantido com probabilidade min(1, p/q).",
    says: (x) =>
      `${x.all ? `${count(x.all)} ${x.all === 1 ? "lançamento" : "lançamentos"}: ${percent(x.kept)} dos rascunhos foram mantidos (exato: ${percent(x.share)}); a maior distância de p é ${fixed(x.far, 3)}.` : `${percent(x.share)} dos rascunhos são mantidos. Lance a moeda e compare com p.`}${
        x.wrong ? " Trocando a partir de p, o que o rascunho prefere sai vezes demais, por mais que você lance." : ""
      }`,
  },

  ROLL: {
    label: "Quem chama quem nesta rodada",
    ask: (x) => `pede ${many(x.count, "token", "tokens")} a ${x.below}`,
    draft: (x) => (x.count ? `oferece ${many(x.count, "token", "tokens")}` : "não acha nada para oferecer"),
    verify: (x) =>
      `${x.count ? `mantém ${x.kept} de ${x.count}` : "não recebe nada"}${x.own ? `${x.count ? ", " : "; "}escreve 1 próprio` : ""}: tem ${x.held}`,
    up: (x) => said(`entrega ${x.count} a ${x.above}`),
  },

  HOPS: {
    label: "O caminho mais barato por níveis e comprimentos de bloco",
    levels: ["busca", "cópia de 8 bits", "alvo"],
    sliders: {
      lookup: "uma busca custa",
      copy: "uma passagem da cópia custa",
      "lookup-copy": "a cópia aceita a busca",
      "lookup-target": "o alvo aceita a busca",
      "copy-target": "o alvo aceita a cópia",
    },
    open: "Um círculo é um nível com o seu comprimento de bloco. Um caminho de baixo até o alvo é uma pilha; os números ficam escondidos até você responder.",
    says: (x) =>
      x.path.length > 1
        ? `O caminho mais curto é ${x.path.join(" → ")}: ${x.ms} por token, ${x.gain} vezes a velocidade do alvo sozinho (${x.plain}).`
        : `O alvo sozinho é o mais rápido: ${x.plain} por token.`,
  },
};
