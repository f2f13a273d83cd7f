/** O que a página diz de um prompt escrito por pilhas que confiam cada vez mais. */

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  FATES: {
    label: "Um prompt, escrito por várias pilhas",
    asked: "Os textos aparecem quando a pergunta é respondida.",
    same: "o texto do próprio alvo",
    leaves: (at) => `o texto do próprio alvo até o token ${at}, depois outro`,
    here: "aqui o alvo sozinho teria escrito outro texto",
    row: (text, price) => (price ? `${text}; ${price}` : text),
    says: "Hachurado: ali não é a escolha do próprio alvo. A barra fica onde um texto deixa o do alvo.",
  },
};
