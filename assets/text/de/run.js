/** Was laufen kann und wie es geht: die Zeile des Prompts, ihre Einstellungen, das Schild, das sagt, was zu sehen ist. */

import { many } from "../many.js";
import { count as grouped, fixed, precise } from "../numbers.js";

/** @type {import("../language.js").Translation<typeof import("../en/run.js")>} */
export const WORDS = {
  PROMPT: {
    stop: "Stopp",
    stopping: "Hält an…",
    examples: "Beispiele",
    try: "Probieren:",
    tryLabel: "Beispiele, die mit diesem Modell gut gehen",
    tryTip: (prompt) => `schreibt eine Antwort auf: ${prompt}`,
    otherTip: (prompt, invite) => `Dieser Text wurde für einen anderen Prompt geschrieben: „${prompt}“. ${invite}`,
    other: "für einen anderen Prompt",
    placeholder:
      "Der Prompt ist leer, es gibt also nichts zu erzeugen. Schreiben Sie hier einen, oder wählen Sie unter Mehr ein Beispiel; Strg+Eingabe erzeugt.",
    label: "Prompt",
    generate: "Erzeugen",
    before: (ahead) => `${ahead} vor Ihrem`,
    pace: (answers) => {
      const rate = answers && fixed(answers, answers < 1.5 ? 1 : 0);
      return `${rate ? `, etwa ${rate} je Minute` : ""}; Aufzeichnungen sind frei`;
    },
    settings: "Einstellungen",
    form: "was laufen soll",
    generateTip: "diesen Stapel auf diesen Prompt anwenden (Strg+Eingabe)",
    stopTip: "anhalten, spätestens nach dieser Runde (Esc)",
    stoppingTip: "die Runde geht zu Ende",
    noPreset: "Keine Voreinstellung ist verfügbar, also kann nichts laufen.",
    simulated:
      "Dieser Stapel ist simuliert: es gibt hier keine Gewichte für ihn. Wählen Sie einen anderen Stapel, um Text zu erzeugen.",
    size: (characters, tokens, most) =>
      `${grouped(characters)} Zeichen, etwa ${grouped(tokens)} Token${most ? `; höchstens ${grouped(most)} Token werden hier gelesen` : ""}`,
    over: (text, most) => {
      const length = text.length > most ? [...text].length : 0;
      return length > most
        ? `Der Prompt hat ${grouped(length)} Zeichen, und höchstens ${grouped(most)} werden hier gelesen: kürzen Sie ihn, oder starten Sie das Programm mit app.py --prompt-tokens 8192.`
        : "";
    },
    unfold: "Mehr davon zeigen",
    fold: "Einklappen",
    tooLong: "für Server, die längere Prompts lesen (app.py --prompt-tokens 8192)",
    noLongText: "Der Text kam nicht an; wählen Sie ihn noch einmal.",
    empty: "Der Prompt ist leer: schreiben Sie etwas, oder wählen Sie ein Beispiel.",
  },
  SETTINGS: {
    off: "hier nicht verwendbar",
    groups: { model: "Modell", sampling: "Ziehen", run: "Lauf" },
    preset: ["Voreinstellung", "welche Gewichte"],
    presets: "Voreinstellungen",
    targets: "Zielmodelle dieses Servers",
    whyNot: (n) => `Warum ${n === 1 ? "eine nicht" : `${n} nicht`} verwendbar ${n === 1 ? "ist" : "sind"}`,
    device: ["Gerät", "wo die Stufen laufen"],
    anyDevice: "das beste verfügbare",
    temperature: ["Temperatur", "0 ist greedy: immer das wahrscheinlichste Token"],
    topK: ["top-k", "nur die k wahrscheinlichsten Token; 0 behält alle"],
    topP: ["top-p", "nur die kleinste Menge von Token mit so viel Wahrscheinlichkeit"],
    seed: ["Seed", "derselbe Seed gibt denselben Lauf"],
    newTokens: ["neue Token", "höchstens so viele erzeugen"],
    baseline: [
      "einfaches Dekodieren auch messen",
      "nach dem Lauf denselben Prompt mit dem Zielmodell allein dekodieren, damit die Beschleunigung gemessen ist",
    ],
    replan: [
      "Auto: beim Erzeugen neu planen",
      "die Stufen im Turm sind eine Auswahl: welche laufen, und mit welchem T, wird zwischen den Runden neu entschieden, aus einem gemessenen Profil und dem, was frühere Runden annahmen",
    ],
    depths: [
      "Tiefen nach dem Lauf messen",
      "noch ein Durchlauf über den Text: was jede Schicht an jeder Stelle geschrieben hätte („In welcher Schicht wusste es das Modell?“, unten)",
    ],
    raw: ["roher Prompt", "ohne die Chat-Vorlage des Modells"],
    detail: ["aufzeichnen", "was je Token aufgezeichnet wird"],
    details: { full: "alles", light: "ohne Wahrscheinlichkeiten" },
  },
  STATUS: {
    places: { cpu: "CPU", cuda: "GPU" },
    live: "live",
    interrupted: "unterbrochen",
    recorded: "aufgezeichnet",
    auto: "auto",
    target: "Ziel",
    unknown: (kinds) => `${kinds.length > 1 ? "Stufen" : "eine Stufe"} hier nicht installiert (${kinds.join(", ")})`,
    unknownTip:
      "Was eine solche Stufe ausführt, ist hier nicht installiert: die Aufzeichnung wird mit anderer Farbe und anderem Buchstaben gezeichnet.",
    exactTip: (why) => `Exakt: ${why}.`,
    differs: (n) => `ab Token ${n + 1} ein anderer Text`,
    differsTip: (margin) =>
      `Einfaches Dekodieren schrieb einen anderen Text; wo sie sich trennen, lagen seine zwei besten Logits ${margin === null ? "unbekannt weit" : precise(margin, 2)} auseinander.`,
    lossyTip: (why) => `Verlustbehaftet: ${why}.`,
    levels: (n) => many(n, "Stufe", "Stufen"),
    spoken: (state, x) => {
      const speed = x.speed ? `, ${fixed(x.speed, 0)} Token je Sekunde` : "";
      const kept = x.kept === null ? "" : `, ${Math.round(100 * x.kept)} Prozent der Entwürfe behalten`;
      return `${state}: ${x.tokens} Token${speed}${kept}${x.plan === null ? "" : `, Plan: ${x.plan}`}.`;
    },
    preparing: "der Lauf wird vorbereitet",
    none: "noch kein Lauf",
    start: "Wählen Sie eine Aufzeichnung, oder drücken Sie Erzeugen.",
    choose: "Wählen Sie eine Aufzeichnung.",
    liveStopped: "live, angehalten",
    liveDone: "live, fertig",
    autoTip: "Auto: Stufen und Blocklängen können sich zwischen den Runden ändern.",
    machine: (machine) => `Rechner: ${machine}.`,
    simulated: "simuliert: kein Modell lief",
    simulatedTip: (what) => `Simuliert: ${what}. Die Maschine, ihre Regeln und jedes Ereignis sind echt.`,
    weights: (from) => `Gewichte: ${from}.`,
  },
  STAGE: {
    lanes: "Bahnen auf einer Uhr",
    leftOut: (names) => `Aus der Adresse weggelassen, weil ungültig: ${names}.`,
    unread: (stack) => `${stack} ist kein Stapel, den der Baukasten lesen kann.`,
    composed: (stack, then) => `${stack}: steht jetzt im Baukasten. ${then}`,
    busy: "Ihr Lauf muss erst enden; drücken Sie dann Erzeugen.",
    cannot: (reason) => `Er kann nicht laufen: ${reason}`,
    press: "Drücken Sie Erzeugen, um ihn laufen zu lassen.",
    simulating: "Der Plan wird simuliert; beim ersten Mal dauert das einige Sekunden.",
    stoppedEarly: "Angehalten, bevor es begann.",
    stoppedFetching: "Angehalten. Was geholt wurde, bleibt: Erzeugen fährt dort fort.",
    unanswered: "der Server hat nicht geantwortet",
    unreached: "Der Server ist nicht erreichbar; diese Seite versucht es weiter.",
  },
  PRICE: {
    short: (share) => `${share} nicht vom Zielmodell`,
    said: (share, nats, plain) =>
      `${share} der Token sind nicht die eigene Wahl des Zielmodells; mittlere Überraschung ${nats} Nats je Token${plain === null ? "" : `, beim Text des einfachen Dekodierens ${plain}`}`,
    figure: [
      "Preis",
      "Token, die nach demselben Text nicht die eigene Wahl des Zielmodells sind, und wie sehr es überrascht ist: das Mittel von \u2212ln p bei Temperatur 1, vom Zielmodell allein nach dem Lauf gelesen",
    ],
    spared: "von einer verlustbehafteten Regel behalten: das Zielmodell allein hätte ein anderes Token geschrieben",
  },
};
