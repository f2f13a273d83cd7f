/** Was die Seite von einem Richter sagt. */

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  JUDGE: {
    good: "gut",
    says: "Wie wahrscheinlich der Richter jedes entworfene Token gut findet, nachdem das Modell es gelesen hat. Ein verworfenes Token mit mehr als δ bleibt.",
  },
};
