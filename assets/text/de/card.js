/** Die Karte eines Tokens. */

import { local } from "../numbers.js";

const NBSP = "\u00a0";

/** @type {import("../language.js").Translation<typeof import("../en/card.js")>} */
export const WORDS = {
  CARD: {
    label: "Karte eines Tokens",
    close: "Die Karte schließen",
    greedy: "Greedy: die erste Wahl einer Stufe = 1, alle anderen = 0;",
    sampled: "p, q und α stammen aus den verwendeten Verteilungen;",
    bars: (laws) => `${laws} die Balken sind der rohe Softmax bei Temperatur 1.`,
    click: " Ein Klick auf das Token zeigt die Zeilen aller prüfenden Stufen.",
    states: { committed: "übernommen", tentative: "noch nicht übernommen", gone: "nicht im Text" },
    how: { draft: "entworfen", correct: "Korrektur", bonus: "Bonus" },
    itself: "Das Zielmodell hat es selbst gezogen: niemand muss es prüfen.",
    unasked: (other) => `Nicht geprüft: an seiner Stelle oder davor wurde ${other} behalten.`,
    unjudged: "Noch keine Stufe hat es geprüft.",
    lost: "Ungeprüft verloren mit einem verworfenen Token davor.",
    supplied: "geliefert von",
    draftedAt: "entworfen bei",
    drawnAt: "gezogen bei",
    id: "id",
    position: "Position",
    round: "Runde",
    roundIs: (nth, ms, perToken) =>
      `${nth}, ${ms}${NBSP}ms${perToken === null ? "" : `, ${perToken}${NBSP}ms je Token`}`,
    chosen: "gewählt",
    drawnWith: "gezogen mit p",
    drawn: "gezogen",
    times: (n) => `${n}-mal, mit Zurücklegen`,
    copied: "kopiert aus",
    copiedWhy: (alike, share) =>
      `${alike}${NBSP}Token davor ${alike === 1 ? "stimmt" : "stimmen"} überein${share >= 1 ? "" : `, ${local(String(Math.floor(1000 * share) / 10))}${NBSP}% seines q`}`,
    fates: {
      waiting: "wartet",
      kept: "behalten",
      rejected: "verworfen",
      lost: "nicht geprüft",
      unasked: "nicht geprüft",
    },
    offered: (by) => `für diese Stelle angeboten, in der Reihenfolge, in der ${by} sie prüft`,
  },
  VERDICT: {
    outcomes: { accepted: "angenommen", rejected: "verworfen", unjudged: "nicht geprüft", spared: "verschont" },
    whose: (tag) => `${tag}:`,
    notKept: (whose) => `${whose} die Wahl wurde in diesem Lauf nicht aufgezeichnet`,
    top: (whose, p) => `${whose} erste Wahl (${p})`,
    among: (whose, most) => `${whose} nicht unter den ${most} wahrscheinlichsten`,
    nth: (whose, nth, p) => `${whose} ${nth}. Wahl (${p})`,
    instead: (own, top, p) => `${own}; die erste Wahl ist „${top}“ (${p})`,
    block: "Regel block: α ist h, die Wahrscheinlichkeit, dass der Block bis hierher behalten wird.",
    residual: "Rest",
    certain: (outcome) => `sicher: ${outcome}, keine Münze nötig`,
    prefix: "mit einem längeren Anfang behalten (Regel block), keine Münze nötig",
    matched: {
      accepted: "aus p wurde ein Token gezogen, und es ist dieses: behalten",
      rejected: "aus p wurde ein Token gezogen, und es ist ein anderes: verworfen",
    },
    coin: (u, sign, alpha, outcome) => `u ${u} ${sign} α ${alpha}: ${outcome}`,
    likeliest: (law) => `${law}: wahrscheinlichste Token`,
    oneHot: (law) => `${law}, alles auf einem Token`,
    others: "andere",
  },
};
