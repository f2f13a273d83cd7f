/** A prova de que o texto é o mesmo. */

import { figure } from "../numbers.js";

/** "de o modelo" como se diz. */
const said = (/** @type {string} */ text) =>
  text
    .replaceAll("de o modelo", "do modelo")
    .replaceAll("por o modelo", "pelo modelo")
    .replaceAll(" a o modelo", " ao modelo");

/** @type {import("../language.js").Translation<typeof import("../en/proof.js")>} */
export const WORDS = {
  PROOF: {
    open: "prova",
    openTip: "ver que é exato: token por token ao lado da decodificação simples, ou uma posição sorteada 1.000 vezes",
    title: "É o mesmo texto?",
    sampledTitle: "O sorteio segue a mesma distribuição?",
    close: "Fechar a prova (Esc)",
    simulated: "Esta execução é simulada: todos os níveis escrevem o mesmo trecho, então não há o que provar.",
  },

  LINES: {
    label: "Decodificação simples em cima, a pilha embaixo, token por token",
    plain: "simples",
    stack: "pilha",
    all: (n) =>
      n === 1
        ? "O único token é o que a decodificação simples escreveu."
        : `Todos os ${n} tokens são os que a decodificação simples escreveu.`,
    diverges: (n, of, margin) =>
      `Os primeiros ${n} de ${of} tokens são os da decodificação simples; depois eles divergem, onde as duas melhores escolhas do alvo estavam a ${margin} logits uma da outra.`,
    shorter: (n) => `Os primeiros ${n} tokens são iguais; um dos dois textos acaba ali.`,
    unknown: "não registrada",
    why: "Por que tem de ser assim: cada nível entrega palpites, e o alvo só mantém os que são a sua própria primeira escolha; onde um palpite não é, o alvo escreve a sua.",
    wrong:
      "Isto não é um quase empate: as linhas deste alvo mudam com o que é computado ao lado delas, então aqui a pilha não manteve o texto.",
    tie: "Uma passagem sobre várias linhas pode arredondar os últimos bits de outro modo que uma passagem sobre uma linha: onde a margem é quase 0, qualquer um dos dois tokens pode ganhar. As menores margens estão marcadas.",
    notRecorded: (n) =>
      `Este trace mais antigo não registra um a um os ids da decodificação simples: só diz que os primeiros ${n} coincidem, e a linha de cima os repete. As margens vêm das passagens do próprio alvo na pilha.`,
    ids: "As duas linhas são ids gravados; as margens vêm das linhas da decodificação simples.",
    unmeasured:
      "A decodificação simples não rodou junto com esta execução, então não há com o que comparar. Marque “medir também a decodificação simples” nas configurações e gere de novo.",
    itself: "Esta execução é a decodificação simples.",
    pending: "A decodificação simples roda depois da pilha; a comparação aparece aqui quando as duas terminarem.",
    margins: "menores margens",
    marginTip: "ln(p da primeira escolha / p da segunda), em logits: o que seria preciso para mudar a escolha",
    marked: (at, margin, by) =>
      `posição ${at}: margem de ${margin} logits, ${by === "plain" ? "linha da decodificação simples" : "linha do alvo nesta execução"}`,
    lossy: (why) =>
      `Esta pilha não é exata: ${why}. Onde ela difere da decodificação simples, o motivo não é arredondamento.`,
  },

  DRAWS: {
    others: "todos os outros",
    label: "Uma posição, sorteada muitas vezes",
    drawn: "sorteado aqui, no navegador, a partir das linhas que a execução gravou",
    again: "Sortear 1.000 vezes",
    one: "Sortear uma vez",
    clear: "Recomeçar",
    position: "posição",
    before: "posição anterior",
    after: "próxima posição",
    verifier: "julgado por",
    norows: "O trace desta execução não guarda linhas de probabilidade, então nada pode ser sorteado a partir dele.",
    nothing: "Nenhum token rascunhado desta execução foi julgado com as linhas das duas distribuições.",
    intro: (drafter, verifier) =>
      said(
        `Rascunhe da distribuição q de ${drafter}, mantenha com min(1, p / q), senão sorteie do resíduo: p é a distribuição de ${verifier}.`,
      ),
    named: (drafter, verifier) =>
      said(
        `${drafter} indica um token (todo o q está nele); mantenha-o com probabilidade p, senão sorteie do resíduo. p é a distribuição de ${verifier}.`,
      ),
    rules: {
      right: {
        name: "a regra, token por token",
        tip: "rascunhe de q; mantenha com min(1, p / q); senão sorteie de norm(max(p \u2212 q, 0))",
      },
      resample: {
        name: "errado: corrige a partir de p",
        tip: "o mesmo, mas um rascunho rejeitado é trocado por um sorteio de p, e assim o que o rascunho poderia ter sido conta duas vezes",
      },
      looks: {
        name: "errado: uma política que espia",
        tip: "sorteia até ver um token que seria mantido e para ali: tokens que só p tem nunca saem",
      },
    },
    fills: (tv) => `tende a uma distribuição à distância ${figure(tv)} de p`,
    exact: "tende a p: distância 0",
    off: (tv) => `${tv} de p`,
    offTip:
      "variação total: metade da soma de |parte \u2212 p| sobre todos os símbolos; 0: a mesma distribuição; 1: nada em comum",
    chance: (tv, n) => `${n} sorteios do próprio p ficariam a cerca de ${tv}`,
    chanceTip:
      "metade da soma de sqrt(2 p (1 \u2212 p) / (π n)): a variação total esperada só pelo acaso. Os traços são um erro padrão, sqrt(p (1 \u2212 p) / n)",
    kept: (kept, n, share) => `${kept} de ${n} rascunhos mantidos; soma de min(p, q) = ${figure(share)}`,
    last: (x) =>
      x.kept
        ? `rascunhado ${x.drafted}; moeda ${x.coin} < α ${x.alpha}: mantido`
        : `rascunhado ${x.drafted}; moeda ${x.coin} ≥ α ${x.alpha}: rejeitado; o resíduo dá ${x.out}`,
    close:
      "Distribuições reconstruídas das linhas gravadas e da temperatura, do top-k e do top-p da execução; concordam com cada p, q e α do trace.",
    estimate: "≈: o trace não registra a cauda desta linha; estas distribuições são estimadas a partir do seu começo.",
    symbols: "Os tokens além do começo gravado de uma linha são um só símbolo, “todos os outros”.",
    block:
      "Na execução este nível usa a regra block, que pesa blocos inteiros; para um bloco de um token, como aqui, é o mesmo que token por token.",
    same: "Aqui q é igual a p: nenhum rascunho é rejeitado, então toda regra está certa.",
    legend: "Barra: parte sorteada. Traço: p, com um erro padrão.",
  },
};
