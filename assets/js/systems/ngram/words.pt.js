/** As frases da vista das bases e da figura de uma busca, que uma lição mostra. */

import { count, fixed } from "../../../text/numbers.js";

const many = (/** @type {number} */ n, /** @type {string} */ word, more = `${word}s`) =>
  `${count(n)} ${n === 1 ? word : more}`;

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  DB: {
    open: "Bases",
    openTip: "o que foi buscado, qual base respondeu e quanto foi mantido (tecla D)",
    help: "as bases da busca: qual respondeu, o que foi achado onde, o que foi mantido; \u2190 \u2192 mudam o evento",
    title: "Bases da busca",
    close: "Fechar as bases (Esc)",
    keys: "\u2190 \u2192 mudam o evento, Esc fecha",
    back: "Evento anterior",
    on: "Próximo evento",
    round: (nth, of) => (nth ? `rodada ${nth} de ${of}` : "antes da rodada 1"),
    none: "Esta pilha não busca nada, então não há bases para ver.",
    cure: "Ponha a busca como o nível mais baixo da torre e aperte Gerar, ou abra uma gravação cujos níveis têm um N.",
    simulated:
      "Esta execução é simulada: as buscas acertam com a frequência que um perfil diz, e nenhuma base foi consultada.",
  },
  SHARES: {
    caption: "O que forneceu o texto até aqui, na ordem da busca",
    database: "base",
    answered: "respostas",
    answeredTip: "buscas a que respondeu",
    kept: "mantidos / oferecidos",
    keptTip: "os tokens dela que entraram no texto / todos os que ofereceu, até este momento",
    share: "parte do texto",
    others: "escrito por modelos",
    silent: "nenhuma sabia",
    silentOf: (n) => many(n, "busca"),
    ratio: (kept, offered) => `${count(kept)} / ${count(offered)}`,
    percent: (part) => `${fixed(100 * part, part > 0 && part < 0.0995 ? 1 : 0)}%`,
  },
  LOOKUPS: {
    caption: "As últimas buscas, a mais nova primeiro",
    round: "rodada",
    to: (round) => `Ir a esta busca, na rodada ${round}`,
    key: "chave",
    who: "por",
    followed: "o que veio depois",
    fate: "mantidos",
    unknownKey: "\u2026",
    silent: (asked, n) => (n === 1 ? `${asked}: sem resposta` : `${asked}: sem resposta a ${n} buscas`),
    passed: (letters) => `${letters} sem resposta`,
    of: (kept, all) => `${kept} de ${all}`,
    waits: "ainda não julgado",
    unjudged: "não julgado",
    fateTip: (x) =>
      `${many(x.kept, "mantido")} pelo nível acima, ${many(x.rejected, "rejeitado")}, ${many(x.lost, "não julgado", "não julgados")}; ${many(x.committed, "faz parte", "fazem parte")} do texto`,
    empty: "Nenhuma busca ainda.",
  },
  ENTRIES: {
    title: (held) => `D_c, o contexto: ${many(held, "entrada")}`,
    tip: "Quais tokens vieram depois de quais chaves no prompt e no texto. Cada token dá uma entrada por comprimento de chave.",
    evicted: (n, kept) =>
      `${many(n, "descartada")}: uma chave mantém ${kept === 1 ? "só a sua última continuação" : `as suas ${kept} últimas continuações`}`,
    hit: (where) => `Achado em ${where}: `,
    prompt: "o prompt",
    text: "o texto",
    behind: (key) => `depois ${key === 1 ? "do mesmo token" : `dos mesmos ${count(key)} tokens`}`,
    show: "Mostrar no texto",
    noHit: (letter) => `A última resposta veio de ${letter}, não do contexto.`,
    noAnswer: "A última busca não achou nada.",
    notAsked: "Esta pilha não consulta o contexto (c).",
    list: "Últimas entradas usadas, a mais nova primeiro",
    lengths: (lengths) =>
      lengths.length > 1 ? `chaves de ${lengths[0]}\u2013${lengths[lengths.length - 1]}` : `chave de ${lengths[0]}`,
    fresh: (n) => many(n, "nova"),
    again: "vista de novo",
    gone: "descartada",
    more: (shown, held) => `as últimas ${shown} usadas, de ${count(held)}`,
    unsaid: "Esta gravação não diz como a base do contexto foi mantida, então as entradas dela não são mostradas.",
    differs: (told, own) =>
      `A gravação conta ${many(told, "inserção", "inserções")}, o texto dela dá ${count(own)}: não confie nestas entradas.`,
  },
  WINDOW: {
    title: (filed) => `A janela à frente: ${many(filed, "n-grama")} até aqui`,
    tip: "Cada passagem do nível acima inclui a janela e dá o que viria depois de cada coluna; uma coluna com o que foi escrito abaixo dela é um n-grama.",
    lattice: "O último passo, uma coluna por n-grama",
    head: "primeiro",
    said: "recém-escrito",
    fills: "A janela está enchendo: os primeiros n-gramas vêm quando ela está cheia.",
    behind: (n) => `Mantidos depois deste token, o mais novo primeiro: ${count(n)}`,
    other: "A última resposta não veio da janela à frente.",
    list: "n-gramas mantidos depois do token que foi buscado",
  },
  LOOKUP: {
    label: "Uma busca no texto",
    before: (prompt) => (prompt ? "no prompt" : "antes"),
    now: "o fim",
    back: "Um passo para trás",
    next: "Próximo passo",
    which: "busca",
    of: (n, all) => `${n} de ${all}`,
    heads: ["base", "contém", "entrou", "saiu", "esta busca"],
    count: (n) => count(n),
    fixed: "nunca muda",
    answered: "respondeu",
    asked: (order, letter, by) =>
      order.indexOf(letter) < order.indexOf(by ?? "") ? "não tinha nada" : "não foi consultada",
    stages: [
      (x) => `A chave é como o texto termina: \u201c${x.key}\u201d.`,
      (x) => `Ela já apareceu, ${many(x.back, "token")} antes.`,
      (x) => `O que veio depois dela ali é copiado: \u201c${x.copy}\u201d. Nenhum modelo rodou.`,
      (x) =>
        `O nível acima manteve ${x.fate.kept} de ${x.count}. O que a rodada escreveu é guardado com novas chaves na base do próprio texto.`,
    ],
  },
};
