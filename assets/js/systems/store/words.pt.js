/** O que a página diz do acervo dos estados de um texto. */

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  STORE: {
    figure: [
      "consultas ao acervo",
      "passagens do alvo que perguntaram ao seu acervo de um texto, as linhas que cada uma perguntou de uma vez e o tempo de todas; a decodificação simples pergunta uma vez por token. Os pés mais escuros dos blocos nas raias mostram esse tempo",
    ],
    asks: (count, rows, ms) => `${count} de ${rows} linhas, ${ms} ms`,
    asked: (rows, time) =>
      `disso, ${time} para uma consulta ao acervo, ${rows === 1 ? "1 linha" : `${rows} linhas de uma vez`}`,
  },
};
