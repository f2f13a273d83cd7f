/** Das Menü der Aufzeichnungen. */

/** @type {import("../language.js").Translation<typeof import("../en/recordings.js")>} */
export const WORDS = {
  WORDS: {
    button: "Aufzeichnungen",
    others: "Weitere",
    none: "Es sind keine Aufzeichnungen dabei. Erzeugen Sie einen Lauf, oder öffnen Sie eine Aufzeichnung.",
    shown: "gerade gezeigt",
    times: "mal so schnell wie einfaches Dekodieren",
    speedTip: "so viel mal schneller als einfaches Dekodieren desselben Zielmodells, neben dem Lauf gemessen",
    speedOn: (clock) => `mal so schnell wie einfaches Dekodieren desselben Zielmodells: ${clock}`,
    noWhere: "an einem anderen Tag",
    recorded: (where) => `aufgezeichnet auf ${where}`,
  },
};
