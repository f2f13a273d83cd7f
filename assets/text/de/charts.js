/** Die Diagramme des Laufs: ihre Namen, wie jede Zahl berechnet wird, und was man von einer Runde hört. */

import { many } from "../many.js";

const token = (/** @type {number} */ n) => many(n, "Token", "Token");

/** @type {import("../language.js").Translation<typeof import("../en/charts.js")>} */
export const WORDS = {
  CHARTS: {
    title: "Live-Diagramme",
    tip: "Zeit, Tempo und Annahme, Runde für Runde, während der Lauf geschrieben wird",
    keys: "Live-Diagramme; die Pfeiltasten lesen sie Runde für Runde",
    picture: "Live-Diagramme",
    onClock: (title, clock) => `${title}, ${clock}`,
    latency: "Zeit je Runde",
    speed: "Tempo",
    yield: "Token je Durchlauf",
    acceptance: "Angenommen",
    formulas: {
      latency: "ms jeder Runde nach der Uhr der Maschine, nach Stufen gestapelt",
      speed:
        "übernommene Token / Zeit des Dekodierens bis zu jeder Runde, ohne das Lesen des Prompts; gestrichelt: einfaches Dekodieren",
      yield:
        "Token, die jede Runde mit einem Durchlauf des Zielmodells übernahm, sein eigenes eingeschlossen; gestrichelt: der Mittelwert",
      acceptance: "Anteil der Token von unten, den eine Stufe annahm: Punkte je Runde, Linien für den Lauf bis dahin",
    },
    rate: "Token/s",
    mean: "Mittel",
    ofRound: (round) => `Runde ${round}`,
    plain: (speed) => `einfach ${speed}`,
    oneLevel: "Eine Stufe: nichts anzunehmen.",
    nothing: "noch keine Runde",
    heard: {
      round: (round, rounds) => `Runde ${round} von ${rounds}`,
      latency: (whole, parts) => `${whole} (${parts})`,
      speed: (speed, plain) => (plain ? `${speed} Token/s bisher, einfach ${plain}` : `${speed} Token/s bisher`),
      tokens: token,
      accepted: (level, kept, judged) => `${level} nahm ${kept} von ${judged} an`,
    },
  },
  STUDY: {
    label: "Diesen Lauf untersuchen",
    keys: (title) => `${title}: die Pfeiltasten lesen es Wert für Wert`,
    clocks: {
      simulated: "Simuliert: kein Modell lief. ",
      reckoned: "Berechnet: jeder Durchlauf wurde einzeln gemessen, dann auf die Uhr seiner Bahn gelegt. ",
      real: "Wirklich: zwei Bahnen gleichzeitig tätig. ",
    },
    auto: (times) => `Auto: die Stufen und ihr T änderten sich während des Laufs ${times}-mal. `,
    by: (level) => `von ${level}`,
    acceptance: {
      title: "Annahme nach Position im Block",
      text: "Wie oft jede prüfende Stufe das Token an dieser Position behielt, von denen, die sie prüfte (ein Token nach einem verworfenen wird nicht geprüft).",
      x: "Position im Block",
      y: "angenommen / geprüft",
      hover: "Position %{x}: %{y:.0%} (%{customdata[0]} von %{customdata[1]})<extra></extra>",
      columns: ["Stufe", "Position", "geprüft", "angenommen", "Anteil"],
      heard: (level, position, share, accepted, judged) =>
        `${level}, Position ${position}: ${share}, ${accepted} von ${judged}`,
    },
    time: {
      title: "Wo die Zeit blieb",
      text: "Rechenzeit jeder Stufe, ohne das Lesen des Prompts. Als verloren zählt die Zeit im Verhältnis der Zeilen für Token, die nie übernommen wurden.",
      kept: "für übernommene Token",
      lost: "für andere Token",
      between: "zwischen den Stufen",
      x: "ms des Dekodierens",
      hover: (name) => `%{x:.1f} ms<br>${name}<extra></extra>`,
      columns: ["Stufe", "Prompt, ms", "entwerfen, ms", "prüfen, ms", "verloren, ms"],
      took: (time) => `${time} (ziehen, speichern)`,
      heard: (level, time, name) => `${level}: ${time} ms ${name}`,
    },
    tokens: {
      title: "Token über der Zeit",
      own: "dieser Stapel",
      plain: (simulated) => `einfaches Dekodieren, ${simulated ? "simuliert" : "gemessen"}`,
      prefill: "Lesen des Prompts",
      x: "s nach der Uhr der Maschine",
      y: "übernommene Token",
      hover: "%{x:.2f} s: %{y} Token<extra></extra>",
      columns: ["Lauf", "Prompt, ms", "Token", "Ende, ms", "Token/s"],
      planned: (round, stack) => `ab Runde ${round}: ${stack}`,
      text: (plain, plans) =>
        `Übernommene Token nach jeder Runde, neben einfachem Dekodieren desselben Zielmodells mit demselben Prompt und Seed.${
          plain ? "" : " Einfaches Dekodieren wurde in diesem Lauf nicht gemessen."
        }${plans ? ` Auto (gepunktete Linien): ${plans}.` : ""}`,
      heard: (run, time, tokens) => `${run}: ${token(tokens)} nach ${time} s`,
    },
  },
};
