/** A legenda de cores e marcas. */
/** @type {import("../language.js").Translation<typeof import("../en/legend.js")>} */
export const WORDS = {
  LEGEND: {
    source: "base, profundidade ou nível",
    passed: "nível mais alto que aceitou antes do alvo",
    level: "nível que forneceu",
    copied: (name) => `${name}, copiado`,
    targets: "do próprio alvo",
    none: "nenhum: direto do nível que forneceu",
    passedAt: (level) => `aceito por ${level}`,
    under: (ms) => `menos de ${ms}`,
    between: (from, to) => `${from} a ${to}`,
    over: (ms) => `mais de ${ms}`,
    time: "ms da rodada por token",
    unknown: "ainda não se sabe",
    by: (title) => `Cor: ${title}`,
    struck: "rascunho rejeitado",
    label: (title) => `Legenda: ${title}`,
    marks: "Legenda: marcas",
    tentative: "ainda não confirmado",
    word: "palavra",
    rejected: (by) => `rejeitado por ${by}`,
    more: "mais dois ali",
  },

  SPECIMEN: {
    dot: "ponto",
    dots: "pontos",
    passed: (tags) => `${tags.join(" e ")} ${tags.length === 1 ? "aceitou" : "aceitaram"} antes do alvo`,
    colour: "cor",
    line: "linha",
    letter: (letter) => `letra ${letter}`,
  },
};
