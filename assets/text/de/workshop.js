/** Was die Leiste eines Kurses sagt: wohin die Leitung führt, wer da ist, was geantwortet wurde. */

import { LANGUAGE } from "../language.js";
import { many } from "../many.js";

const figure = (/** @type {number} */ x) => x.toLocaleString(LANGUAGE, { maximumFractionDigits: 6 });
const unit = (/** @type {string} */ text) => (text ? ` ${text}` : "");
/** @type {Record<string, string>} */
const TABS = {
  explore: "Erkunden",
  race: "Rennen",
  planner: "Planer",
  learn: "Lernen",
  results: "Ergebnisse",
  atlas: "Atlas",
};

/** @type {import("../language.js").Translation<typeof import("../en/workshop.js")>} */
export const WORDS = {
  WORKSHOP: {
    label: "Der Kurs",
    joining: "Raumcode",
    join: "Zum Kurs",
    coming: "Sie kommen in den Kurs…",
    wrong: (why) => `Sie sind nicht im Kurs: ${why}.`,
    slowed: (s) => `Von hier kamen zu viele falsche Codes. Nächster Versuch in ${s} s…`,
    lost: "Der Kurs ist nicht erreichbar; es wird weiter versucht…",
    idle: "Sie sind im Kurs. Bis die Leitung führt, sehen Sie sich selbst um.",
    leads: (place) => `Die Leitung führt: ${place}`,
    freed: (place) => `Sehen Sie sich selbst um. Der Kurs war zuletzt bei: ${place}`,
    again: "Zurück zum Kurs",
    there: "Dorthin",
    here: (n) => many(n, "Person ist hier", "Personen sind hier"),
    hereShort: (n) => `${n} hier`,
    screens: (place) => `Alle Bildschirme: ${place}`,
    still: (place) => `Alle Bildschirme zeigen noch: ${place}`,
    free: "Die Bildschirme sind frei",
    send: "Dies an alle senden",
    sendShort: "An alle",
    keeps: "und was ich als Nächstes öffne",
    keepsShort: "und weiter",
    release: "Die Bildschirme freigeben",
    releaseShort: "Freigeben",
    code: (code) => `Raumcode ${code}`,
    codeTip: "dem Saal die Adresse und den Code zeigen",
    unsent: "Das ist für Sie allein; öffnen Sie, was der Kurs sehen soll.",
    failed: (why) => `Das kam nicht im Kurs an: ${why}`,
    answers: "Antworten",
    answered: (n) => many(n, "Antwort", "Antworten"),
    show: "Allen die Antworten zeigen",
    hide: "Die Antworten verbergen",
    csv: "Antworten als CSV",
    csvTip: "alle Antworten bisher als Tabelle; ohne Namen",
    csvColumns: ["Lektion", "Titel", "Schritt", "Frage", "Antwort", "Einheit", "Personen"],
    answersTo: (step) => `Antworten auf die Frage von Schritt ${step}`,
    choice: (n) => `Auswahl ${n}`,
    share: (n, of) => `${n} (${of ? Math.round((100 * n) / of) : 0} %)`,
    bin: (from, to, of) => {
      if (from === null) return `bis ${figure(to ?? 0)}${unit(of)}`;
      if (to === null) return `${figure(from)}${unit(of)} oder mehr`;
      return from === to ? `${figure(from)}${unit(of)}` : `${figure(from)} bis ${figure(to)}${unit(of)}`;
    },
    poster: {
      title: "Zum Kurs",
      open: "Scannen Sie den Code, oder öffnen Sie",
      enter: "und geben Sie ein:",
      label: "QR-Code der Adresse des Kurses",
      close: "Schließen",
      here: "Nur dieser Rechner kann diese Adresse öffnen. Verbinden Sie ihn mit dem Netz des Raums, und starten Sie den Server neu.",
      failed: "Der QR-Code konnte nicht gezeichnet werden; Adresse und Code genügen.",
    },
    places: {
      step: (lesson, step) => `Lektion ${lesson}, Schritt ${step}`,
      lessons: "die Liste der Lektionen",
      card: { task: "eine Aufgabe für den Kurs", discuss: "eine Frage an den Kurs" },
      race: (name) => (name ? `das Rennen „${name}“` : "die Rennen"),
      load: (n) => `${n || "viele"} Anfragen zugleich`,
      pair: (titles) => `${titles.map((one) => `„${one}“`).join(" und ")} im Vergleich`,
      recording: (title, round) => `die Aufzeichnung „${title}“${round ? `, Runde ${round}` : ""}`,
      system: (name) => (name ? `${name}, im Atlas` : "der Atlas"),
      stack: (name) => `der Stapel „${name}“`,
      run: "ein Lauf der Leitung",
      tab: (name) => `der Reiter ${TABS[name] ?? name}`,
      explore: "Erkunden",
    },
  },
};
