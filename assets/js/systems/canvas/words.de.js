/** Was die Seite von Lücken sagt. */

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  BLOCK: {
    label: (n) => `Block ${n}, seine Zellen von links nach rechts`,
    legend: "Die kleine Zahl ist der Durchlauf, der eine Zelle füllte; Zellen des letzten Durchlaufs sind dunkler.",
    cell: (cell, pass) =>
      pass === null ? `Zelle ${cell}: leer` : pass ? `Zelle ${cell}, Durchlauf ${pass}` : `Zelle ${cell}, gegeben`,
  },
  PASSES: {
    label: "Ein Block von Lücken, Durchlauf für Durchlauf",
    slider: "nach Durchlauf",
    says: (pass, filled, canvases) =>
      `${pass} Durchläufe, ${filled} Zellen${canvases > 1 ? `. Der letzte Durchlauf berechnete ${canvases} Zustände des Blocks` : ""}.`,
  },
  LAW: {
    label: "Wie weit von der richtigen Verteilung, nach R und nach Zellen je Durchlauf",
    r: { label: "R", text: (v) => String(v) },
    most: { label: "Zellen je Durchlauf", text: (v) => String(v) },
    across: "behaltene Zellen je Durchlauf",
    up: "Abstand zur richtigen Verteilung",
    says: (kept, apart) =>
      `${kept} Zellen je Durchlauf; ${apart} der Wahrscheinlichkeit liegt auf falschen Texten. Hier über alle 1024 Texte einer Sprache mit vier Wörtern berechnet, nichts ist gezogen.`,
  },
  PRICES: {
    label: "Was Zustände im Voraus bringen, nach Gerät",
    here: "zwei CPU-Kerne",
    times: (gain) => `${gain}\u00d7`,
    says: (steps, states) =>
      `Simuliert: ${steps} Schritte und ${states} Zustände je Durchlauf sind in diesem Lauf gezählt; die Zeit eines Durchlaufs, 16 Zeilen je Zustand, ist die von SmolLM2 auf zwei Kernen, oder für andere Geräte berechnet.`,
  },
  REWRITES: {
    label: "Ein Block, der umgeschrieben wird, bis er stillsteht",
    slider: "Entwurf",
    pass: "Durchlauf",
    says: (passes, kept, of, swings) =>
      `${swings ? `Er schwingt zwischen Entwürfen und wurde nach ${passes} Durchläufen genommen, wie er war` : `Er stand nach ${passes} Durchläufen still`}; der Leser behielt ${kept} von ${of}. Farbig: was ein Durchlauf änderte.`,
  },
};
