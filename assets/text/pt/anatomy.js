/** A anatomia de uma rodada. */

import { many } from "../many.js";
import { count as whole, figure } from "../numbers.js";

const NBSP = "\u00a0";
const count = (/** @type {number} */ n) => whole(Math.round(n));
const list = (/** @type {string[]} */ texts) =>
  texts.length > 4 ? `${texts.slice(0, 4).join(" ")} e mais ${texts.length - 4}` : texts.join(" ");
/** @type {Record<string, string>} */
const KINDS = {
  whole: "todas",
  sink: "iniciais",
  chosen: "escolhidas",
  recent: "recentes",
  since: "desde o prompt",
};

/** "de o modelo" como se diz. */
const said = (/** @type {string} */ text) =>
  text
    .replaceAll("de o modelo", "do modelo")
    .replaceAll("por o modelo", "pelo modelo")
    .replaceAll(" a o modelo", " ao modelo");

/** @type {import("../language.js").Translation<typeof import("../en/anatomy.js")>} */
export const WORDS = {
  SAY: {
    title: (nth, of) => `Anatomia da rodada ${nth} de ${of}`,
    facts: (tokens, time) => `${tokens} em ${time}`,
    waiting: "ainda não confirmado",
    tokens: (n) => many(n, "token", "tokens"),
    event: (nth, of) => `evento ${nth} de ${of}`,
    keys: "← → mudam o evento, ↑ ↓ o token, Esc fecha",
    open: "Anatomia",
    openTip: "a rodada sob o cursor, passo a passo (tecla A)",
    openRound: (round) => `Anatomia da rodada ${round}`,
    close: "Fechar a anatomia (Esc)",
    back: "Evento anterior",
    on: "Próximo evento",
    events: "Eventos da rodada; escolha um para ir até ele",
    picture: "A figura da rodada",
    grid: "A rodada: níveis de baixo para cima, posições da esquerda para a direita",
    text: "o texto",
    axis: "posição",
    position: "posição no texto; 0 é o primeiro token depois do prompt",
    states: {
      asked: "em julgamento",
      accepted: "aceito",
      rejected: "rejeitado",
      unjudged: "não julgado",
      lost: "perdido",
      committed: "confirmado",
      waiting: "em espera",
    },
    drafted: (text, by, state) => said(`${text}: rascunhado por ${by}, ${state}`),
    written: (text, by, state) => said(`${text}: escrito por ${by}, ${state}`),
    judged: (text, by, state) => said(`${text}: ${state} por ${by}`),
    none: "Nenhuma rodada começou ainda neste momento.",
    found: "não achou nada",
    empty: "nenhuma chamada ainda",
    rowTip: (tag, rows) =>
      said(
        `a linha de ${tag} nesta posição, seus tokens mais prováveis como barras: ${rows}. Softmax cru com temperatura 1.`,
      ),
    choose: "Tokens da rodada; ↑ e ↓ escolhem um",
  },

  QUOTED: { token: (text) => `“${text.replace(/^\u00b7(?=.)/, "")}”` },

  EVENT: {
    none: (tag) => `${tag} não achou nada para entregar.`,
    drafts: (tag, texts, copies) =>
      texts.length
        ? `${tag} ${copies ? "propõe" : "rascunha"} ${many(texts.length, "token", "tokens")}: ${list(texts)}.`
        : `${tag} não achou nada para entregar.`,
    begins: "A rodada começa.",
    verifies: (tag, x) => {
      if (!x.kept.length && !x.rejected.length)
        return x.own
          ? `${tag} não recebeu nada, então escreve ${x.own} por conta própria.`
          : `${tag} não recebeu nada.`;
      const total = x.kept.length + x.rejected.length + x.rest;
      const everything = !x.rejected.length && !x.rest;
      const kept = everything
        ? total === 1
          ? `${tag} mantém ${x.kept[0]}`
          : `${tag} mantém todos os ${total}`
        : x.kept.length
          ? `${tag} mantém ${x.kept.length} de ${total}`
          : `${tag} não mantém nenhum de ${total}`;
      const lost = x.rejected.length ? `, rejeita ${list(x.rejected)}` : "";
      const after = x.rest ? ` (${many(x.rest, "não julgado", "não julgados")})` : "";
      const own = x.own ? ` e escreve ${x.own} ${x.how === "bonus" ? "como bônus" : "no lugar"}` : "";
      return `${kept}${lost}${after}${own}.`;
    },
    commits: (n) =>
      n === 1
        ? "1 token confirmado: agora ele faz parte do texto."
        : `${n} tokens confirmados: agora eles fazem parte do texto.`,
    plan: "A execução mudou o seu plano de níveis.",
    rows: (n, behind, probes) => {
      const parts = [behind && `${behind} só para se atualizar`, probes && `${probes} para a janela à frente`].filter(
        Boolean,
      );
      return many(n, "linha", "linhas") + (parts.length ? ` (${parts.join(", ")})` : "");
    },
  },

  KV: {
    name: "KV",
    of: (name) => said(`Chaves e valores de ${name}.`),
    before: "Antes da rodada:",
    now: "Agora:",
    unknown: "não registrado",
    lengths: (x) =>
      `${many(x.cached, "posição", "posições")} em cache, ${x.catch_up} ainda a ler; o contexto são ${many(x.committed, "confirmada", "confirmadas")} e ${many(x.held, "retida", "retidas")}`,
    formula: "em cache + ainda a ler = confirmadas + retidas, incluindo o prompt.",
    none: "sem cache",
    waits: (n) => `${n} a ler`,
  },

  HELD: {
    title: "O que cada nível vê das chaves e dos valores",
    kinds: KINDS,
    short: (sees, of) => `${count(sees)} de ${count(of)}`,
    sees: (name, x) => {
      const parts = x.parts.map((part) => `${count(part.count)} ${KINDS[part.kind]}`).join(", ");
      const everything = x.sees >= x.total;
      const what = everything
        ? `todas as ${count(x.total)} posições`
        : `${count(x.sees)} de ${count(x.total)} posições: ${parts}`;
      const each =
        !everything && x.heads > 1
          ? `. Cada uma das ${x.heads} cabeças escolheu as suas; uma célula mais clara é vista por menos cabeças`
          : "";
      return `${name} vê ${what}${each}${x.borrows ? " e a última camada do alvo de tudo o que foi verificado" : ""}.`;
    },
  },

  LAYERS: {
    runs: (text, lo) =>
      `A última chamada executou ${text}${lo > 0 ? `. Os resultados das camadas 0–${lo - 1} são reaproveitados para as linhas que um nível abaixo já leu` : ""}.`,
  },

  ACT: {
    label: "O token escolhido",
    by: "julgado por",
    position: (at) => `posição ${at}`,
    supplied: (name, how) => said(`${how} por ${name}`),
    how: { draft: "rascunhado", correct: "corrigido", bonus: "dado como bônus" },
    unjudged: "Nenhum verificador o julgou ainda.",
    behind: "Não julgado: um token antes dele foi rejeitado.",
    norows: "O trace desta execução não guarda linhas de probabilidade.",
    token: "token",
    others: "todos os outros",
    columns: {
      q: {
        name: "q",
        tip: (name) =>
          said(`q: a distribuição de ${name}, da qual o rascunho foi sorteado, depois de temperatura, top-k e top-p`),
      },
      named: { name: "q", tip: (name) => `q: ${name} indica um token sem distribuição, então todo o q está nele` },
      p: {
        name: "p",
        tip: (name) => said(`p: a distribuição de ${name} nesta posição, depois de temperatura, top-k e top-p`),
      },
      both: {
        name: "min(p, q)",
        tip: () =>
          "o que as duas distribuições têm em comum: um rascunho é mantido com min(1, p / q), então um token é rascunhado e mantido com q · min(1, p / q) = min(p, q)",
      },
      rest: {
        name: "resíduo",
        tip: () =>
          "norm(max(p \u2212 q, 0)): o que p tem além de q, ajustado para somar 1. Um rascunho rejeitado é trocado por um sorteio dele, e assim cada token sai com min(p, q) mais o resto, o que dá p",
      },
    },
    sum: (kept) => `soma de min(p, q) = ${figure(kept)}: com essa frequência um rascunho é mantido aqui`,
    onlySum: (kept) =>
      `soma de min(p, q) = ${figure(kept)}: com essa frequência um rascunho é mantido aqui, e nenhuma regra exata poderia manter mais`,
    bound: (rule, best) =>
      rule === null
        ? `Nenhuma regra exata poderia manter um candidato aqui com probabilidade acima de ${figure(best)}.`
        : figure(rule) === figure(best)
          ? `Esta regra mantém um candidato aqui com probabilidade ${figure(rule)}; nenhuma regra exata faria melhor.`
          : `Esta regra mantém um candidato aqui com probabilidade ${figure(rule)}; nenhuma regra exata passaria de ${figure(best)}.`,
    boundTip:
      "sobre todos os candidatos que poderiam ter sido oferecidos aqui. O máximo é 1 + o mínimo de p(H) \u2212 Q(H) sobre os conjuntos H de tokens, em que Q(H) é a probabilidade de que todos os candidatos estejam em H (optimal multi-draft decoding)",
    sumTip:
      "a soma de min(p, q) sobre todos os tokens, 1 \u2212 a variação total de p e q. Os tokens além do começo gravado contam como um",
    coin: (u, sign, a, out) => `moeda ${u} ${sign} α ${a}: ${out}`,
    certain: (a, out) => `α = ${a}: ${out}, sem precisar de moeda`,
    longer: (a) => `α = ${a}; um prefixo maior foi mantido, então nenhuma moeda foi lançada aqui`,
    alphaTip: (p, q, a) =>
      `α = min(1, p / q) = min(1, ${p} / ${q}) = ${a}. A moeda é uniforme entre 0 e 1; abaixo de α o rascunho é mantido`,
    laterTip: (a) =>
      `α = min(1, p / q) = ${a}, em que p é o que os candidatos anteriores deixaram, norm(max(p \u2212 q, 0)) depois de cada um, e q a distribuição da qual este foi sorteado. A moeda é uniforme entre 0 e 1; abaixo de α o rascunho é mantido`,
    again: (n) =>
      `Sorteado ${many(n, "vez", "vezes")}, com reposição. O primeiro sorteio é julgado; rejeitado este, não sobra probabilidade neste token, então os outros também são rejeitados.`,
    blockTip: (a) =>
      `regra block: α é h = ${a}, a probabilidade de que o bloco seja mantido até aqui; ela pesa o prefixo inteiro, não só este token`,
    matched: {
      accepted: (a) => `α = p = ${a}; um token foi sorteado de p, e é este`,
      rejected: (a) => `α = p = ${a}; um token foi sorteado de p, e é outro`,
    },
    matchTip: (a) =>
      `regra match: um token é sorteado de p, e o rascunho é mantido se for o mesmo, o que acontece com probabilidade ${a}; q não importa`,
    drawnOwn: (text) => `${text} foi sorteado de p e toma este lugar.`,
    block: "Regra block: α pesa o prefixo inteiro, e o resíduo é norm(max(w p \u2212 q, 0)).",
    accepted: "mantido",
    rejected: "rejeitado",
    drawn: (text, share) =>
      `${text} é sorteado do resíduo${share === null ? "" : ` (${figure(share)} dele)`} e toma este lugar.`,
    kept: (text) => `${text} fica; nenhum resíduo é necessário.`,
    hypothetical: "resíduo: se o rascunho tivesse sido rejeitado",
    bonus: (name, p) =>
      `Todos os rascunhos antes dele foram mantidos, então ${name} sorteia mais um da sua própria linha: p ${figure(p)}.`,
    alone: (name, p) => `Não havia rascunho a verificar: ${name} sorteia da sua própria linha, p ${figure(p)}.`,
    estimate:
      "≈: a cauda de uma linha não é gravada token por token; estas distribuições são estimadas a partir do seu começo.",
    exact: "Distribuições reconstruídas das linhas gravadas e do p e do q no trace; “todos os outros” é um só símbolo.",
    copied: (where) => `copiado de ${where}: `,
    why: (alike) => (alike === 1 ? "o token anterior é o mesmo" : `os ${alike} tokens anteriores são os mesmos`),
  },

  GREEDY: {
    raw: "cru",
    p: (name) =>
      said(`p: softmax cru de ${name} com temperatura 1; a execução é gulosa, então só a primeira escolha conta`),
    q: (name) => said(`q: softmax cru de ${name} com temperatura 1; a primeira escolha é o rascunho`),
    same: (tag, text, p) =>
      `A primeira escolha de ${tag} também é ${text} (${p}): mantido. Sem moeda: a decodificação gulosa é tudo ou nada.`,
    against: (tag, top, p, text, mine) =>
      `A primeira escolha de ${tag} é ${top} (${p}); o rascunho ${text} tem ${mine}`,
    rejected: "rejeitado.",
    byRule: "mantido pela regra deste nível.",
    own: (tag, text, p) => `${tag} escreve a sua primeira escolha, ${text} (${p}).`,
    writes: (tag) => `${tag} escreve a sua primeira escolha.`,
    sibling: "Outro candidato para este lugar é julgado a seguir.",
    held: (n, tag) => `Um dos ${n} candidatos é a primeira escolha de ${tag}, então toda regra exata o mantém.`,
    missed: (n, tag) =>
      `Nenhum dos ${n} candidatos é a primeira escolha de ${tag}, então nenhuma regra exata poderia ter mantido um.`,
    drafts: (tag, text, p) => `${tag} rascunha a sua primeira escolha, ${text} (${p}).`,
    names: (tag) => `${tag} busca tokens: indica um e não tem outras escolhas.`,
    certain: (tag) => `${tag} entrega este token como certo (q = 1): o trace não tem outras escolhas para ele.`,
    beyond: "uma parte menor do que o trace guarda",
    rest: (p) => `todos os outros juntos ${p}`,
    margin: (m) => `margem até a segunda escolha: ${m}${NBSP}logits`,
    marginTip: "ln(p da primeira escolha / p da segunda) = a diferença dos seus logits",
  },
};
