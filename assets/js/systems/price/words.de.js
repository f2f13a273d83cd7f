/** Was die Seite von einem Prompt sagt, den Stapel schreiben, die immer mehr vertrauen. */

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  FATES: {
    label: "Ein Prompt, von mehreren Stapeln beantwortet",
    asked: "Die Texte erscheinen, wenn die Frage beantwortet ist.",
    same: "der eigene Text des Zielmodells",
    leaves: (at) => `bis Token ${at} der eigene Text des Zielmodells, dann ein anderer`,
    here: "hier hätte das Zielmodell allein einen anderen Text geschrieben",
    row: (text, price) => (price ? `${text}; ${price}` : text),
    says: "Schraffiert: dort nicht die eigene Wahl des Zielmodells. Der Strich steht, wo ein Text den des Zielmodells verlässt.",
  },
};
