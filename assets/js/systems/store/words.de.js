/** Was die Seite von einem Speicher der Zustände eines Texts sagt. */

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  STORE: {
    figure: [
      "Anfragen an den Speicher",
      "Durchläufe des Zielmodells, die seinen Speicher eines Texts fragten, die Zeilen, nach denen jeder zugleich fragte, und die Zeit von allen; einfaches Dekodieren fragt bei jedem Token. Dunklere Füße der Blöcke in den Bahnen zeigen diese Zeit",
    ],
    asks: (count, rows, ms) => `${count} zu ${rows} Zeilen, ${ms} ms`,
    asked: (rows, time) =>
      `davon ${time} für eine Anfrage an den Speicher, ${rows === 1 ? "1 Zeile" : `${rows} Zeilen zugleich`}`,
  },
};
