/** O menu das gravações. */
/** @type {import("../language.js").Translation<typeof import("../en/recordings.js")>} */
export const WORDS = {
  WORDS: {
    button: "Gravações",
    others: "Outras",
    none: "Nenhuma gravação acompanha esta página. Gere uma execução ou abra um arquivo de trace.",
    shown: "mostrada agora",
    times: "vezes a velocidade da decodificação simples",
    speedTip: "vezes a velocidade da decodificação simples do mesmo alvo, medida junto com a execução",
    speedOn: (clock) => `vezes a velocidade da decodificação simples do mesmo alvo: ${clock}`,
    noWhere: "outro dia",
    recorded: (where) => `gravada em ${where}`,
  },
};
