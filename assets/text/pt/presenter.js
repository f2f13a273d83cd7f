/** Apresentar a uma plateia. */
/** @type {import("../language.js").Translation<typeof import("../en/presenter.js")>} */
export const WORDS = {
  WORDS: {
    name: "apresentar",
    tip: "para uma plateia: texto grande, sem prompt; as setas e Espaço controlam a reprodução de qualquer lugar (P; Esc sai)",
  },
};
