/** Teilen: Links, Codes, Dateien, und wohin ein Link führte. */

import { fixed } from "../numbers.js";

const kB = (/** @type {number} */ length) => `${fixed(length / 1000, length < 10_000 ? 1 : 0)} kB`;

/** @type {import("../language.js").Translation<typeof import("../en/share.js")>} */
export const WORDS = {
  words: {
    share: "Teilen",
    shareTip: "teilen: Links, ein Code für Telefone, der Lauf als eine Datei",
    wholePage: "HSD Explorer ↗",
    settings: "Diese Einstellungen",
    settingsNote: "Voreinstellung, Stapel, Prompt und Ziehen; wer den Link öffnet, drückt Erzeugen.",
    promptLeftOut: "Ohne den Prompt, der für einen Link zu lang ist.",
    moment: "Dieser Zeitpunkt",
    momentNote: (at, token) =>
      `Runde ${at.split(".")[0]}, Ereignis ${at.split(".")[1]}${token === null ? "" : `, mit geöffneter Karte von Token ${token}`}.`,
    notShipped: "Nur für Aufzeichnungen, die zur Seite gehören; der Link darunter geht mit jedem Lauf.",
    embed: "Code zum Einbetten",
    embedNote: "HTML für eine eigene Seite: der Text und seine Wiedergabe in einem Rahmen.",
    embedAllowed: " Starten Sie diesen Server mit --allow-embed und dem Ursprung jener Seite.",
    embedTitle: (title) => `HSD Explorer${title ? `: ${title}` : ""}`,
    run: "Der ganze Lauf",
    runNote: (length, bare) =>
      `${kB(length)}, im Link selbst: kein Server speichert ihn. Ohne Wahrscheinlichkeiten${bare ? ", Tiefen und Längen des Caches" : " und Tiefen"}.`,
    tooLong: (length, most) =>
      `Zu lang für einen Link (${kB(length)}; die Grenze ist ${kB(most)}): laden Sie den Lauf herunter und ziehen Sie die Datei auf die Seite.`,
    notOver: "Der Lauf muss erst enden.",
    nothing: "Es gibt noch keinen Lauf.",
    file: "Als Datei",
    trace: "Aufzeichnung",
    traceTip: "alles Aufgezeichnete (.jsonl.gz): ziehen Sie es auf diese Seite, um es zu öffnen",
    html: "Seite",
    htmlTip: "eine HTML-Datei, die diesen Lauf ohne Server und Netz abspielt",
    copy: "Kopieren",
    code: "Code",
    copied: (what) => `Kopiert: ${what}.`,
    saved: (name, size) => `Gespeichert als ${name} (${kB(size)}).`,
    pageFailed:
      "Der Server konnte die Vorlage der Seite nicht senden; laden Sie stattdessen die Aufzeichnung herunter.",
    packing: "Der Lauf wird gepackt…",
    codeOf: (what) => `QR-Code: ${what}`,
    codeTooLong: "Zu lang für einen QR-Code.",
    codeFailed: "Der Server konnte den QR-Code nicht zeichnen; kopieren Sie den Link.",
    close: "Schließen",
    here: "Diese Adresse geht nur auf diesem Rechner. Starten Sie den Server mit --host 0.0.0.0, damit andere sie öffnen können.",
    hereAlone:
      "Diese Adresse geht nur auf diesem Rechner. Geben Sie den Ordner weiter, oder legen Sie ihn auf einen Webserver, damit andere sie öffnen können.",
    drop: "Lassen Sie die Aufzeichnung los, um sie zu öffnen",
    dropNote: "eine .jsonl- oder .jsonl.gz-Datei eines Laufs",
    dropNone: "Das war keine Datei: ziehen Sie eine Aufzeichnung (.jsonl oder .jsonl.gz) hierher.",
    dropMany: "Nur eine Datei auf einmal: die erste wird geöffnet.",
    linked: "ein verlinkter Lauf",
    faults: {
      version: "Der Link enthält einen Lauf einer anderen Version dieser Seite; bitten Sie um den Lauf als Datei.",
      long: "Der Lauf im Link ist zu lang; bitten Sie um den Lauf als Datei.",
      damaged:
        "Der Lauf im Link ist beschädigt: vielleicht wurde der Link abgeschnitten. Kopieren Sie ihn noch einmal ganz.",
    },
    instead: (title, otherPrompt, otherStack, then) => {
      const of = [otherPrompt && "einem anderen Prompt", otherStack && "einem anderen Stapel"]
        .filter(Boolean)
        .join(" und ");
      return `Dieser Link enthält Einstellungen, aber keinen Lauf. Bis Sie ihn laufen lassen, ist die Aufzeichnung „${title}“ zu sehen, mit ${of}. ${then}`;
    },
    noSuchMoment: (at) => `Diese Aufzeichnung hat keinen Zeitpunkt ${at}; der nächste ist zu sehen.`,
    noSuchToken: (token) => `Diese Aufzeichnung hat kein Token ${token}; das nächste ist zu sehen.`,
    notYet: (token) =>
      `Token ${token} ist dann noch nicht geschrieben; zu sehen ist der Zeitpunkt, an dem es geschrieben wird.`,
    noMoment: (what) => `Aus der Adresse weggelassen, weil ungültig: ${what}.`,
    noSuchRecording: (name, other) =>
      `Es gibt hier keine Aufzeichnung „${name}“; ${other ? `„${other}“ heißt am ähnlichsten und ist zu sehen` : "eine andere ist zu sehen"}.`,
  },
  slide: {
    row: "Karte für Folien",
    note: "16:9: der Stapel, sein Tempo, der Text, der Rechner und der Tag.",
    dark: "dunkel",
    saved: (name) => `Gespeichert als ${name}.`,
    svgTip: "Vektorgrafik: scharf in jeder Größe",
    pngTip: "Bildpunkte, 2560 × 1440",
    of: (big, unit, stack) => `Karte für Folien: ${big} ${unit}; ${stack}`,
    brand: "HSD Explorer",
    about: "hierarchisches spekulatives Dekodieren",
    perPass: (tokens) => `${tokens} Token je Durchlauf`,
    kept: (share) => `${share} % der Entwürfe behalten`,
    exact: "Der Text ist der, den das Modell allein schreibt.",
    inLaw: "Jedes Token ist so gezogen, wie das Modell allein es zöge.",
    lossy: "Dieser Stapel kann den Text verändern.",
  },
};
