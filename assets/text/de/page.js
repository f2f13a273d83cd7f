/** Der Rahmen der Seite: Titelleiste, Sprungmarken, Meldungen, Abbildungen. */

/** @type {import("../language.js").Translation<typeof import("../en/page.js")>} */
export const WORDS = {
  TITLE: {
    help: "Hilfe: wie diese Seite zu lesen ist",
    helpName: "wie diese Seite zu lesen ist",
    name: "HSD Explorer",
    theme: "hell oder dunkel",
    language: "Sprache",
  },
  SKIP: {
    name: "springen zu",
    playback: "Zur Wiedergabe",
    text: "Zum Text",
    tower: "Zum Turm",
    tab: "Zum Inhalt dieses Reiters",
  },
  TYPED: {
    none: (name, text) =>
      text
        ? `„${text}“ ist keine Zahl: ${name} bleibt, wie es war.`
        : `Es wurde nichts eingegeben: ${name} bleibt, wie es war.`,
    most: (name, high) => `${name} ist höchstens ${high} und wird darauf gesetzt.`,
    least: (name, low) => `${name} ist mindestens ${low} und wird darauf gesetzt.`,
    whole: (name, value) => `${name} ist eine ganze Zahl und wird auf ${value} gesetzt.`,
  },
  NOTE: { dismiss: "diese Meldung schließen" },
  FIGURE: {
    noPlots:
      "das Skript für Diagramme konnte nicht geladen werden; die Tabelle unter jedem Diagramm hat dieselben Zahlen",
    unread: "noch kein Wert gelesen",
    table: "als Tabelle",
    tableOf: (title) => `${title}, als Tabelle`,
    said: (title, text) => `${title}. ${text} Die Tabelle darunter enthält dieselben Zahlen.`,
  },
  ASIDE: {
    tip: "zeigt ihn wieder; was jetzt zu sehen ist, bleibt im Verlauf des Browsers",
    back: (how) => `Ihr Lauf ${how}: zurück zu ihm`,
  },
  JOURNEY: {
    lost: "Was hier zu sehen war, ist nicht mehr gespeichert: erzeugen oder öffnen Sie es noch einmal.",
    gone: "Der begonnene Lauf ist nicht mehr auf dem Server.",
    done: "ist fertig",
    goesOn: "läuft noch",
    begins: "beginnt",
  },
  FILES: {
    notCopied: "dieser Browser hat das Kopieren nicht erlaubt",
    unreadable: "die Datei konnte nicht gelesen werden",
    notSent: (status) =>
      `der Server konnte die Aufzeichnung nicht senden (Status ${status}); wählen Sie sie noch einmal`,
    tooLarge: (mb) => `die Datei ist größer als ${mb} MB; so groß ist keine Aufzeichnung eines Laufs`,
  },
};
