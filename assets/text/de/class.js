/** Was ein Kurs von sich sagt; sein Plan steht in `classes`. */

const clocked = (/** @type {number} */ s) => `${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")}`;
/** @type {Record<string, string>} */
const TABS = {
  explore: "Erkunden",
  race: "Rennen",
  planner: "Planer",
  learn: "Lernen",
  results: "Ergebnisse",
  atlas: "Atlas",
};

/** @type {import("../language.js").Translation<typeof import("../en/class.js")>} */
export const WORDS = {
  CLASS: {
    title: "Unterrichten",
    lead: "Ein Weg durch die Lektionen: was zu sagen ist, was der Saal fragen wird, und ein zweites Fenster für Ihre Notizen.",
    minutes: (n) => `${n} min`,
    back: "Zurück zu den Lektionen",
    both: "Beginnen, mit Notizen in einem zweiten Fenster",
    start: "In diesem Fenster beginnen",
    print: "Den Plan drucken",
    before: "Bevor Sie beginnen",
    part: (n, title, from, to) => `${n}  ${title} (Minuten ${from} bis ${to})`,
    shows: (number, title, steps) =>
      `Zeigt Lektion ${number}, „${title}“, ${steps.length === 1 ? "Schritt" : "Schritte"} ${steps.join(", ")}.`,
    say: "Sagen",
    asked: "Was der Saal fragen wird",
    discuss: "Den Saal fragen",
    tasks: "Aufgaben",
    outcome: "Was sie finden sollten:",
    notesOf: (title) => `Notizen: ${title}`,
    startClock: "Uhr starten",
    stopClock: "Uhr zurücksetzen",
    clock: (s, due, all) => `${s === null ? "–" : clocked(s)} von ${all} min; dieser Teil endet bei ${due} min`,
    alone: "Kein anderes Fenster zeigt diesen Kurs.",
    openProjector: "Eines für den Projektor öffnen",
    previous: "Zurück",
    next: "Weiter",
    answer: "Die Antwort zeigen",
    shown: (n, of, name) => `Jetzt zu sehen (${n} von ${of}): ${name}`,
    then: (name) => `Dann: ${name}`,
    end: "das Ende",
    step: (lesson, step, title) => `Lektion ${lesson ?? "?"}, Schritt ${step}: ${title}`,
    tab: (query) => {
      const name = new URLSearchParams(query).get("tab") ?? "explore";
      return `der Reiter ${TABS[name] ?? name}`;
    },
    card: {
      task: (text) => `Aufgabe: ${text}`,
      discuss: (text) => `Frage: ${text}`,
    },
    cardHead: { task: "Ihre Aufgabe", discuss: "Was meinen Sie?" },
    openTask: "Öffnen, was sie braucht",
    partNow: (n, of, title, minutes) => `Teil ${n} von ${of}: ${title} (${minutes} min)`,
    unknown: (id) => `Es gibt hier keinen Kurs „${id}“; das sind die Lektionen.`,
  },
};
