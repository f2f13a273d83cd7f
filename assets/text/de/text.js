/** Der Text: sein Kopf, seine Token, wie sie vorgelesen werden, Kandidaten nebeneinander. */

import { many } from "../many.js";

const token = (/** @type {number} */ n) => many(n, "Token", "Token");

/** @type {import("../language.js").Translation<typeof import("../en/text.js")>} */
export const WORDS = {
  TEXT: {
    colours: { level: "geliefert von", passed: "angenommen von", source: "Datenbank oder Tiefe", time: "Zeit" },
    noneNow: "jetzt keine; vorher: ",
    title: "Der Text",
    colourBy: "Farbe nach",
    colourTips: {
      level: "ein Token hat die Farbe der Stufe, die es geliefert hat",
      passed: "ein Token hat die Farbe der höchsten Stufe, die es vor dem Zielmodell angenommen hat",
      source: "ein Token hat die Farbe der Datenbank, aus der es stammt, oder der Schicht, an der es gelesen wurde",
      time: "die Farbe eines Tokens zeigt die Zeit seiner Runde, geteilt durch deren Token",
    },
    openFile: "eine Aufzeichnung öffnen; oder ziehen Sie eine Datei auf die Seite",
    saved: (name) => `Die Aufzeichnung wurde als ${name} gespeichert.`,
    noRun: "Es gibt noch keinen Lauf.",
    above: "↑ Anfang",
    ghostsTip:
      "Entwürfe, die eine Stufe verworfen hat, durchgestrichen an ihrer Stelle; die eine Zeile begonnen hätten, stehen am Ende der Zeile davor",
    ghosts: "Verworfenes",
    wholeTip: "der ganze Text von Anfang an, an Stelle des Turms",
    whole: "ganzer Text",
    copy: "den Text kopieren",
    copied: "Der Text wurde kopiert.",
    save: "die Aufzeichnung herunterladen",
    nothing: "Es lief noch nichts.",
    nothingYet:
      "Schreiben Sie einen Prompt und drücken Sie Erzeugen: hier erscheint der Text, jedes Token in der Farbe der Stufe, die es geliefert hat.",
    firstRun:
      "Der erste Lauf holt und lädt die Gewichte, das dauert ein bis zwei Minuten; spätere beginnen sofort. Sie können auch eine Aufzeichnung öffnen.",
    label: "der Text",
    waiting: "Die Stufen lesen den Prompt; geschrieben ist noch nichts.",
    nothingWritten: "Es wurde nichts geschrieben.",
    circles: (small) =>
      `Ab hier dreht sich der Text im Kreis. ${small ? "Dieses Modell hat nur 135 Millionen Parameter, damit es auf jedem Notebook läuft, und kleine Modelle tun das." : "Kleine Modelle tun das."} Wiederholten Text errät die Textsuche am besten: bei anderen Texten gewinnt sie weniger.`,
    flow: "Der Text, Token für Token. Die Pfeiltasten gehen von Token zu Token.",
  },
  TOKEN: {
    newline: "neue Zeile ",
    how: { draft: "entworfen von", correct: "Korrektur von", bonus: "Bonus von" },
    is: (text, how, level) => `${text}: ${how} ${level}`,
    copied: (fromPrompt) => (fromPrompt ? "aus dem Prompt kopiert" : "aus dem Text kopiert"),
    accepted: (levels) => `angenommen von ${levels.join(", ")}`,
    rejected: (level) => `verworfen von ${level}`,
    gone: "nicht im Text",
    lost: "verloren mit einem verworfenen Token davor",
    tentative: "noch nicht übernommen",
    candidate: (nth, of) => `Kandidat ${nth} von ${of} für seine Stelle`,
    unasked: "nicht geprüft, ein anderes wurde behalten",
    more: (count) => `${count} weitere verworfene Token hier`,
  },
  TREE: {
    said: (sequences, tokens) =>
      `${many(sequences, "Kandidat", "Kandidaten")}${sequences > 1 ? " nebeneinander" : ""}, ${token(tokens)}`,
    judged: (said, x) =>
      `${said}: ${x.kept} behalten, ${x.rejected} verworfen von ${x.level}${x.rest ? `, ${x.rest} nicht geprüft` : ""}`,
    waits: (said) => `${said}: noch nicht geprüft`,
    dock: "Kandidaten unter dem Text",
    more: (below, above) =>
      [below ? `↓ ${below} weitere` : "", above ? `↑ ${above} darüber` : ""].filter(Boolean).join(", "),
    label: (said) => `Kandidaten. ${said}. Zeile für Zeile in der Reihenfolge, in der sie geprüft werden.`,
  },
};
