/** Zeiten und Zahlen: die große Zahl, die Bahnen und die Zeile darüber. */

import { many } from "../many.js";

const FEW = ["zwei", "drei", "vier"];
const few = (/** @type {number} */ n, first = false) => {
  const word = FEW[n - 2] ?? String(n);
  return first ? word[0].toUpperCase() + word.slice(1) : word;
};
const rows = (/** @type {number} */ n) => many(n, "Zeile", "Zeilen");

/** @type {import("../language.js").Translation<typeof import("../en/lanes.js")>} */
export const WORDS = {
  CLOCKS: {
    reckoned: {
      name: "berechnete Uhr",
      short: "berechnet",
      at: "Uhr",
      said: "Berechnet: jeder Durchlauf lief allein und wurde einzeln gemessen, dann auf die Uhr seiner Bahn gelegt: was je ein solcher Rechner ergäbe.",
    },
    real: {
      name: "wirkliche Uhr, zwei Bahnen",
      short: "wirklich",
      at: "Uhr",
      said: "Wirklich: beide Bahnen arbeiteten gleichzeitig auf einem Rechner, je ein Prozess mit einem Thread auf einem eigenen Kern. Aufgezeichnet von einer früheren Version.",
    },
    simulated: {
      name: "simulierte Uhr",
      short: "simuliert",
      at: "kein Modell lief",
      said: "Simuliert: kein Modell lief.",
    },
  },
  COUNT: { few },
  HEADLINE: {
    formula:
      "Token/s bis zu diesem Zeitpunkt / Token/s beim einfachen Dekodieren desselben Zielmodells mit demselben Prompt und Seed; beides nach der Uhr der Maschine, ohne das Lesen des Prompts",
    rateOf: { simulated: "simulierte Token/s", reckoned: "berechnete Token/s", real: "wirkliche Token/s" },
    rate: "Token/s",
    waiting: "einfaches Dekodieren wird gemessen",
    gainOf: {
      simulated: "simulierte Beschleunigung",
      reckoned: "berechnete Beschleunigung",
      real: "wirkliche Beschleunigung",
    },
    gain: "so schnell wie einfaches Dekodieren",
    against: (now, plain) => `${now} gegenüber ${plain} Token/s`,
    where: (machine) => `ein Prompt${machine ? `, ${machine.split(",")[0]}` : ""}`,
    itself: "dies ist einfaches Dekodieren",
    none: "einfaches Dekodieren wurde nicht gemessen",
    later: "einfaches Dekodieren läuft danach",
  },
  LANES: {
    picture: (clock) => (clock ? `Bahnen, ${clock}` : "Bahnen"),
    rests: (name) => `${name}: nicht im Plan`,
    head: ["Stufe", "Aufrufe", "Zeilen", "Zeit"],
    layers: "gerechnete Schichten",
    what: { draft: "entworfen", verify: "geprüft", prefill: "Prompt gelesen" },
    call: (round, n, probes = 0) =>
      `Runde ${round}, ${rows(n)}${probes ? `, ${probes} davon für das Fenster voraus` : ""}`,
    prefill: (n) => `${n} Token des Prompts`,
    drafts: (out, sequences = 1) => `${out} hinaus${sequences > 1 ? `, ${sequences} Kandidaten` : ""}`,
    verifies: (into, out, rejected = 0) =>
      `${into} hinein, ${out} hinaus${rejected ? `, ${rejected === 1 ? "eines" : rejected} verworfen` : ""}`,
    label: "Bahnen: was jede Stufe berechnete, auf einer Uhr",
    labelOf: {
      reckoned: (n) =>
        `Bahnen: was jede Stufe berechnete, auf ${few(n)} Uhren gelegt wie auf ${few(n)} Rechnern (berechnet)`,
      real: (n) => `Bahnen: was jede Stufe berechnete, in ${few(n)} Prozessen gleichzeitig (wirklich)`,
      simulated: (n) => `Bahnen: was jede Stufe berechnen würde, ${few(n)} gleichzeitig (simuliert)`,
    },
    titleOf: {
      reckoned: (n) => `${few(n, true)} Bahnen, berechnet`,
      real: (n) => `${few(n, true)} Bahnen, wirklich`,
      simulated: (n) => `${few(n, true)} Bahnen, simuliert`,
    },
    used: (x) =>
      `Zielmodell tätig ${x.target} der Zeit, ${x.below}, ${x.more ? "zwei oder mehr" : "beide"} zugleich ${x.both}; Gewinn durch Überlappung ${x.gain}; ${many(x.dropped, "entworfenes Token", "entworfene Token")} fallen gelassen, ${x.waste} aller Zeilen vergebens`,
    meanwhile: (x) =>
      `Runde ${x.round}: während das Zielmodell prüfte, schrieb ${x.who} ${many(x.drafted, "Token", "Token")}; ${
        x.kept ? "keines ging verloren" : "ein Token davor wurde verworfen, also entfiel, was dahinter stand"
      }`,
    alone: (round) => `Runde ${round}: während das Zielmodell prüfte, wurde nichts entworfen`,
    focus: "Bahnen; mit den Pfeiltasten die Runde davor und die nächste",
    below: (share) => `Stufen darunter ${share}`,
    level: (name, share) => `${name} ${share}`,
    atWork: (name) => `${name} tätig`,
    two: "zwei oder mehr tätig",
    share: "Anteil der Zeit",
    lane: {
      target: "Zielmodell tätig",
      below: "Stufen darunter tätig",
      both: "beide tätig",
      gain: "Gewinn durch Überlappung",
      dropped: "entworfene Token fallen gelassen",
      waste: "vergebens gerechnete Zeilen",
    },
    vain: (kind, tokens) =>
      kind === "verify"
        ? "vergebens: etwas davor wurde verworfen"
        : `${tokens} ungeprüft fallen gelassen: etwas davor wurde verworfen`,
    whole: "ganzer Lauf",
    last: "letzte Runden",
    shownWhole: "Zu sehen ist der ganze Lauf. Drücken Sie für die Runden um den Zeiger",
    shownLast: "Zu sehen sind die Runden um den Zeiger. Drücken Sie für den ganzen Lauf",
    timeline: (n, time) => `Zeitleiste von ${n} Runden, ${time}; die Tabelle danach hat die Summen.`,
    caption: "Arbeit je Stufe im ganzen Lauf",
    theta: (at) => `Schwelle θ ${at}`,
  },
  TALLY: {
    figures: {
      forward: [
        "je Durchlauf des Ziels",
        "übernommene Token / Durchläufe des Zielmodells, Korrekturen und Bonus-Token eingeschlossen",
      ],
      kept: ["der Entwürfe behalten", "übernommene Token, die unten entworfen wurden / unten entworfene Token"],
      first: ["bis zum ersten Token", "Lesen des Prompts und erste Runde, nach der Uhr der Maschine"],
      layers: [
        "Schichten je Token",
        "gelesene Schichten der Stufen, die sich die Gewichte des Zielmodells teilen / übernommene Token; einfaches Dekodieren liest für jedes Token jede Schicht. Die wenigen eigenen Schichten eines Entwurfs zählen nicht",
      ],
      both: ["beide tätig", "Zeit, in der mindestens zwei Bahnen arbeiten / Zeit des Dekodierens"],
      moved: [
        "zwischen den Geräten",
        "ids, Wahrscheinlichkeiten und Zustände, die für Entwürfe und Prüfungen zwischen Prozessor und Beschleuniger wanderten / übernommene Token, und die Zeit all dieser Kopien nach der Uhr des Geräts",
      ],
      equal: [
        "wie einfaches Dekodieren",
        "greedy: führende ids, die denen des einfachen Dekodierens gleichen, von allen; gezogene Läufe stimmen nur in der Verteilung überein",
      ],
    },
    moves: (kb, ms) => `${kb} kB je Token, ${ms} ms insgesamt`,
    of: (part, all) => `${part} von ${all}`,
    equal: (share) => `${share} gleich`,
    margin: (share, margin) => `${share} (Abstand ${margin ?? "unbekannt"})`,
    simulated: "simuliert",
    noModel: "kein Modell lief",
    simulatedTip: (tip) => `simuliert: ${tip.replaceAll("gemessen", "simuliert")}`,
    depths: "In welcher Schicht wusste es das Modell?",
    depthsTip: "unten: die Wahrscheinlichkeit jeder Schicht für jedes Token dieses Texts",
    noDepths:
      "in diesem Lauf nicht gemessen: wählen Sie „Tiefen nach dem Lauf messen“ in den Einstellungen und erzeugen Sie noch einmal",
    whyNoDepths: (why) => `Die Tiefen: ${why}.`,
  },
};
