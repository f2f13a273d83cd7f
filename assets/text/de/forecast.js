/** Was die Theorie für einen Stapel vorhersagt, und was gemessen wurde. */

import { many } from "../many.js";
import { count as tokens, fixed, rounded } from "../numbers.js";

/** @param {string} day @param {string} where */
const measuredOn = (day, where) => [where, day].filter(Boolean).join(", ");

const on = (/** @type {string} */ machine) => machine && `, ${machine}`;
const at = (/** @type {string} */ predicted, /** @type {number|undefined} */ length) =>
  length ? `${predicted} bei ${tokens(length)} Token Text` : predicted;

/** @type {Record<string, (predicted: number, measured: number) => string>} */
const CAUSES = {
  pace: (predicted, measured) =>
    `der Rechner war ${measured > predicted ? "langsamer" : "schneller"}: einfaches Dekodieren brauchte ${rounded(measured)} ms je Token statt ${rounded(predicted)}`,
  tokens: (predicted, measured) =>
    `ein Durchlauf des Zielmodells ergab ${rounded(measured)} Token statt ${rounded(predicted)}, weil Entwürfe ${measured > predicted ? "öfter" : "seltener"} angenommen wurden als im Profil`,
  cost: (predicted, measured) =>
    `eine Runde kostete ${rounded(measured)} Durchläufe des einfachen Dekodierens statt ${rounded(predicted)}`,
};

/** @type {import("../language.js").Translation<typeof import("../en/forecast.js")>} */
export const WORDS = {
  words: {
    predicted: "vorhergesagt",
    measured: "gemessen",
    error: "Fehler",
    asks: "Theorie: der Planer wird gefragt…",
    says: (predicted, where) => `Theorie sagt ${predicted}${on(where)}`,
    said: (predicted, measured, where) => `Theorie sagte ${predicted}, gemessen ${measured}${on(where)}`,
    saidElsewhere: (predicted, where, measured, there) =>
      `Theorie sagt ${predicted}${on(where)}; gemessen ${measured}${on(there)}`,
    thisMachine: "dieser Rechner",
    at,
    paysFrom: (from, first) =>
      first
        ? `Schon bei ${tokens(from)} Token Text, dem kürzesten gemessenen, schneller als einfaches Dekodieren.`
        : `Ab ${tokens(from)} Token Text schneller als einfaches Dekodieren.`,
    paysNowhere: "Bei den längsten Texten, gemessen oder fortgesetzt, nicht schneller als einfaches Dekodieren.",
    extrapolated: (length, first, last) =>
      `${tokens(length)} Token sind fortgesetzt: gemessen ${first === last ? `ist ${tokens(first)}` : `sind ${tokens(first)} bis ${tokens(last)}`}.`,
    saysReckoned: (predicted, where) => `Theorie sagt ${predicted}, berechnet${on(where)}`,
    saidReckoned: (predicted, found, clock) =>
      clock === "reckoned"
        ? `Theorie sagte ${predicted}, der Lauf ergab ${found} (beides berechnet)`
        : `Theorie sagte ${predicted}, berechnet; der Lauf ergab ${found}`,
    reckoned: "berechnet",
    reckonedTip:
      "vom gezeigten Lauf: jeder Durchlauf wurde einzeln gemessen, dann auf zwei Uhren gelegt: was ein zweiter solcher Rechner ergäbe; gegenüber einfachem Dekodieren im selben Lauf",
    otherClock: () => "Der Lauf hat eine andere Uhr als die berechnete der Vorhersage, daher steht hier kein Fehler.",
    twoClocks: "Für zwei solche Rechner, einen davon für das Zielmodell.",
    lineTip: "öffnet die Vorhersage: Zeit je Token, ihr Fehler und warum, was jede Stufe wert ist",
    why: (causes) =>
      causes.length
        ? `Sie lag daneben, denn ${causes.map((one) => CAUSES[one.what](one.predicted, one.measured)).join(", und ")}.`
        : "",
    caught: (level, wrong, ms, of) =>
      `${level} fing ${many(wrong, "falschen Vorschlag", "falsche Vorschläge")} ab, bevor das Zielmodell sie sah, zu ${ms} ms je Aufruf; ein Aufruf des Zielmodells dauert ${of} ms.`,
    worth: "Was jede Stufe wert ist, nach derselben Theorie",
    without: (level, speedup) => `Ohne ${level}: ${speedup}`,
    title: "Was die Theorie für diesen Stapel vorhersagt, und was gemessen wurde",
    ms: "ms je Token",
    times: "Beschleunigung",
    unknown: "–",
    asking: "der Planer wird gefragt…",
    none: (reason) => `Keine Vorhersage: ${reason}.`,
    ran: (ms, gain, how = "gemessen") =>
      `${how[0].toUpperCase()}${how.slice(1)}: ${ms} ms je Token${gain && `, ${gain} des einfachen Dekodierens`}.`,
    lost: "der Server hat nicht geantwortet; ändern Sie den Stapel, um noch einmal zu fragen",
    auto: "Auto ändert Stufen und Blocklängen während des Laufs",
    madeUp: "diese Stufen sind simuliert; der Planer bewertet sie",
    faulty: "dieser Stapel kann nicht laufen",
    here: (day) => `Nach dem Profil dieses Rechners${day && `, gemessen am ${day}`}.`,
    shipped: (where, day) =>
      `Nach dem mitgelieferten Profil, gemessen auf ${measuredOn(day, where) || "einem anderen Rechner"}.`,
    elsewhere: "Der Lauf wurde auf einem anderen Rechner gemessen, daher steht hier kein Fehler.",
    engine:
      "Lauf und Profil stammen von verschiedenen Maschinen (onnxruntime, torch allein), daher steht hier kein Fehler.",
    otherwise: "Der Lauf zog anders als dieses Profil, daher steht hier kein Fehler.",
    off: (share) => {
      const percent = Math.abs(100 * share);
      return `${share > 0 ? "+" : share < 0 ? "\u2212" : ""}${fixed(percent, percent < 9.95 ? 1 : 0)}\u00a0%`;
    },
    errorTip:
      "(vorhergesagt − gemessen) / gemessen. Läuft der Rechner jetzt langsamer als beim Messen des Profils, ändern sich die ms, die Beschleunigung aber kaum",
    predictedTip:
      "erwartete ms je Token und Beschleunigung gegenüber einfachem Dekodieren: die exakte Rekursion über dieses Profil, wie im Planer",
    measuredTip:
      "vom gezeigten Lauf: Zeit des Dekodierens / übernommene Token, ohne das Lesen des Prompts; gegenüber einfachem Dekodieren im selben Lauf",
    gain: (from, to) => `${fixed(from, 2)}× → ${fixed(to, 2)}× vorhergesagt`,
    gainAt: (to, length) => `${at(`${fixed(to, 2)}×`, length)}, vorhergesagt`,
    noGain: "keine Vorhersage",
  },
};
