/** Die Legende: was Farben und andere Zeichen bedeuten. */

/** @type {import("../language.js").Translation<typeof import("../en/legend.js")>} */
export const WORDS = {
  LEGEND: {
    source: "Datenbank, Tiefe oder Stufe",
    passed: "höchste Stufe, die es vor dem Zielmodell angenommen hat",
    level: "Stufe, die es geliefert hat",
    copied: (name) => `${name}, kopiert`,
    targets: "vom Zielmodell selbst",
    none: "keine: direkt von der Stufe, die es geliefert hat",
    passedAt: (level) => `angenommen: ${level}`,
    under: (ms) => `unter ${ms}`,
    between: (from, to) => `${from} bis ${to}`,
    over: (ms) => `über ${ms}`,
    time: "ms der Runde je Token",
    unknown: "noch nicht bekannt",
    by: (title) => `Farbe: ${title}`,
    struck: "verworfener Entwurf",
    label: (title) => `Legende: ${title}`,
    marks: "Legende: Zeichen",
    tentative: "noch nicht übernommen",
    word: "Wort",
    rejected: (by) => `verworfen von ${by}`,
    more: "zwei weitere dort",
  },
  SPECIMEN: {
    dot: "Punkt",
    dots: "Punkte",
    passed: (tags) => `${tags.join(" und ")} ${tags.length > 1 ? "nahmen" : "nahm"} es vor dem Zielmodell an`,
    colour: "Farbe",
    line: "Linie",
    letter: (letter) => `Buchstabe ${letter}`,
  },
};
