/** Die Datenbanken der Textsuche, und das Bild einer Suche in einer Lektion. */

import { many } from "../../../text/many.js";
import { count, fixed } from "../../../text/numbers.js";

const suchen = (/** @type {number} */ n) => many(n, "Suche", "Suchen");

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  DB: {
    open: "Datenbanken",
    openTip: "was gesucht wurde, welche Datenbank antwortete und wie viel behalten wurde (Taste D)",
    help: "die Datenbanken der Textsuche: welche antwortete, was wo gefunden wurde, was behalten wird; ← → wechseln das Ereignis",
    title: "Datenbanken der Textsuche",
    close: "Die Datenbanken schließen (Esc)",
    keys: "← → wechseln das Ereignis, Esc schließt",
    back: "Voriges Ereignis",
    on: "Nächstes Ereignis",
    round: (nth, of) => (nth ? `Runde ${nth} von ${of}` : "vor Runde 1"),
    none: "Dieser Stapel sucht nichts im Text, also gibt es keine Datenbanken zu sehen.",
    cure: "Fügen Sie im Turm „Textsuche“ als unterste Stufe hinzu und drücken Sie Erzeugen, oder öffnen Sie eine Aufzeichnung, deren Stufen ein N haben.",
    simulated:
      "Dieser Lauf ist simuliert: die Suche trifft so oft, wie ein Profil sagt, und keine Datenbank wurde gefragt.",
  },
  SHARES: {
    caption: "Was den Text bisher lieferte, in der Reihenfolge der Suche",
    database: "Datenbank",
    answered: "Antworten",
    answeredTip: "Suchen, auf die sie antwortete",
    kept: "behalten / angeboten",
    keptTip: "ihre Token, die Teil des Texts wurden / alle, die sie bis zu diesem Moment anbot",
    share: "Anteil am Text",
    others: "von Modellen geschrieben",
    silent: "keine wusste etwas",
    silentOf: (n) => `${count(n)} ${n === 1 ? "Suche" : "Suchen"}`,
    ratio: (kept, offered) => `${count(kept)} / ${count(offered)}`,
    percent: (part) => `${fixed(100 * part, part > 0 && part < 0.0995 ? 1 : 0)}\u202f%`,
  },
  LOOKUPS: {
    caption: "Die letzten Suchen, neueste zuerst",
    round: "Runde",
    to: (round) => `Zu dieser Suche, in Runde ${round}`,
    key: "Schlüssel",
    who: "von",
    followed: "was folgte",
    fate: "behalten",
    unknownKey: "…",
    silent: (asked, n) => (n === 1 ? `${asked}: keine Antwort` : `${asked}: keine Antwort auf ${suchen(n)}`),
    passed: (letters) => `${letters} ohne Antwort`,
    of: (kept, all) => `${kept} von ${all}`,
    waits: "noch nicht geprüft",
    unjudged: "nicht geprüft",
    fateTip: (x) =>
      `${x.kept} von der Stufe darüber behalten, ${x.rejected} verworfen, ${x.lost} nicht geprüft; ${x.committed} sind Teil des Texts`,
    empty: "Noch keine Suche.",
  },
  ENTRIES: {
    title: (held) => `D_c, der Kontext: ${count(held)} ${held === 1 ? "Eintrag" : "Einträge"}`,
    tip: "Welche Token im Prompt und im Text auf welche Schlüssel folgten. Jedes Token gibt einen Eintrag je Schlüssellänge.",
    evicted: (n, kept) => `${count(n)} verdrängt: ein Schlüssel behält seine ${kept} letzten Fortsetzungen`,
    hit: (where) => `Gefunden in ${where}: `,
    prompt: "dem Prompt",
    text: "dem Text",
    behind: (key) => (key === 1 ? "nach demselben Token" : `nach denselben ${count(key)} Token`),
    show: "Im Text zeigen",
    noHit: (letter) => `Die letzte Antwort kam von ${letter}, nicht aus dem Kontext.`,
    noAnswer: "Die letzte Suche fand nichts.",
    notAsked: "Dieser Stapel fragt den Kontext (c) nicht.",
    list: "Zuletzt benutzte Einträge, neueste zuerst",
    lengths: (lengths) =>
      lengths.length > 1
        ? `Schlüssel aus ${lengths[0]} bis ${lengths[lengths.length - 1]}`
        : `Schlüssel aus ${lengths[0]}`,
    fresh: (n) => `${n} neu`,
    again: "wieder gesehen",
    gone: "verdrängt",
    more: (shown, held) => `die letzten ${shown} benutzten, von ${count(held)}`,
    unsaid:
      "Diese Aufzeichnung sagt nicht, wie die Datenbank des Kontexts geführt wurde; ihre Einträge fehlen deshalb.",
    differs: (told, own) =>
      `Die Aufzeichnung zählt ${count(told)} neue Einträge, ihr Text ergibt ${count(own)}: trauen Sie diesen Einträgen nicht.`,
  },
  WINDOW: {
    title: (filed) => `Das Fenster voraus: bisher ${count(filed)} ${filed === 1 ? "n-Gramm" : "n-Gramme"}`,
    tip: "Zu jedem Durchlauf der Stufe darüber gehört das Fenster; er ergibt, was auf jede Spalte folgen würde. Eine Spalte mit dem, was unter sie geschrieben wurde, ist ein n-Gramm.",
    lattice: "Der letzte Schritt, eine Spalte je n-Gramm",
    head: "erstes",
    said: "eben geschrieben",
    fills: "Das Fenster füllt sich: die ersten n-Gramme kommen, wenn es voll ist.",
    behind: (n) => `Nach diesem Token behalten, neueste zuerst: ${count(n)}`,
    other: "Die letzte Antwort kam nicht aus dem Fenster voraus.",
    list: "n-Gramme, die nach dem gesuchten Token behalten sind",
  },
  LOOKUP: {
    label: "Eine Suche im Text",
    before: (prompt) => (prompt ? "im Prompt" : "früher"),
    now: "das Ende",
    back: "Ein Schritt zurück",
    next: "Nächster Schritt",
    which: "Suche",
    of: (n, all) => `${n} von ${all}`,
    heads: ["Datenbank", "enthält", "kamen dazu", "fielen weg", "diese Suche"],
    count: (n) => count(n),
    fixed: "ändert sich nie",
    answered: "antwortete",
    asked: (order, letter, by) =>
      order.indexOf(letter) < order.indexOf(by ?? "") ? "hatte nichts" : "wurde nicht gefragt",
    stages: [
      (x) => `Der Schlüssel ist das Ende des Texts: „${x.key}“.`,
      (x) => `Er stand schon einmal da, ${x.back} Token früher.`,
      (x) => `Was dort folgte, wird kopiert: „${x.copy}“. Kein Modell lief.`,
      (x) =>
        `Die Stufe darüber behielt ${x.fate.kept} von ${x.count}. Was die Runde schrieb, kommt unter neuen Schlüsseln in die Datenbank dieses Texts.`,
    ],
  },
};
