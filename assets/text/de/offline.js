/** Ein Lauf in einer Datei für sich. */

/** @type {import("../language.js").Translation<typeof import("../en/offline.js")>} */
export const WORDS = {
  words: {
    why: "Derselbe Text, früher: kleine Stufen raten voraus, das große Modell prüft viele Vorschläge auf einmal; die Farbe zeigt, welche Stufe was schrieb.",
    recorded: (where) => (where ? `aufgezeichnet auf ${where}` : "aufgezeichnet"),
    clocks: {
      simulated: () => "simuliert: kein Modell lief",
      reckoned: (said) =>
        `${said}; berechnet: jeder Durchlauf wurde einzeln gemessen, dann auf die Uhr seiner Bahn gelegt`,
      real: (said) => `${said}; zwei Bahnen gleichzeitig tätig, nach wirklicher Uhr`,
    },
    noServer: "diese Datei spielt einen Lauf ab und hat keinen Server",
    unreadable: "Der Lauf in dieser Datei ist nicht lesbar; exportieren Sie ihn noch einmal.",
  },
};
