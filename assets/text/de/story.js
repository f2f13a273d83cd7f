/** Was der Anfang sagt: ein Satz für jeden Augenblick, aus den Zahlen der Aufzeichnung. */

import { many } from "../many.js";
import { duration } from "../numbers.js";

const COUNTS = ["kein", "ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn"];
const count = (/** @type {number} */ n) => COUNTS[n] ?? String(n);
const words = (/** @type {number} */ n) => `${count(n)} ${n === 1 ? "Wort" : "Wörter"}`;
const capital = (/** @type {string} */ text) => text.charAt(0).toUpperCase() + text.slice(1);
const quoted = (/** @type {string} */ text) => `\u201e${text}\u201c`;

/** @type {import("../language.js").Translation<typeof import("../en/story.js")>} */
export const WORDS = {
  STORY: {
    name: "Die Idee in einer halben Minute",
    scenes: ["Eine Runde", "Das Modell allein", "Die ganze Antwort"],
    scene: (nth, name) => `Szene ${nth}: ${name}`,
    back: "Zurück",
    pause: "Pause",
    on: "Fortsetzen",
    next: "Weiter",
    again: "Noch einmal",
    explore: "Erkunden",
    exploreTip: "weiter zur Seite: Ihr eigener Prompt, jede Runde im Einzelnen",
    keys: "Leertaste oder → geht weiter, ← zurück, Esc zum Erkunden",
    swipe: "Wischen Sie, um weiterzugehen",
    link: "Die Idee",
    linkTip: "eine Runde, bewegt, in einer halben Minute",
    pass: (time) => `ein Durchlauf, ${time}`,
    around: (ns) => `dazu ${duration(ns)} zwischen den Durchläufen`,
    together: "Mit den kleinen Stufen",
    alone: "Das Modell allein",
    target: "das Modell",
    gain: "so schnell wie das Modell allein",
    where: (machine) => `ein Prompt${machine ? `, ${machine}` : ""}`,
    against: (now, plain) => `${now} gegenüber ${plain} Token/s`,
    recorded: (device, machine, day) =>
      `Aufgezeichnet auf ${device}: ${[machine, day].filter(Boolean).join(", ")}. Jede Zahl ist gemessen.`,
  },
  TOLD: {
    begins: "Ein Sprachmodell schreibt ein Wort nach dem anderen. Kleine Modelle können ihm vorausraten.",
    drafts: (who, n, time) => `Die billigste Stufe, ${who}, rät ${words(n)} in ${time}.`,
    rises: (who, n, time) =>
      `Sie steigen zur nächsten Stufe auf: ${who} liest alle ${count(n)} in einem Durchlauf, ${time}.`,
    arrives: (n, time) =>
      `Die ${count(n)} steigen zum Modell auf, dem Ziel: es liest sie alle in einem Durchlauf, ${time}.`,
    strikes: (kept, struck) =>
      kept
        ? `Es behält die ${count(kept)}, die es selbst geschrieben hätte, und streicht ${quoted(struck)}.`
        : `Es hätte etwas anderes geschrieben und streicht ${quoted(struck)}.`,
    corrects: (own) => `An dessen Stelle schreibt es sein eigenes Wort, ${quoted(own)}.`,
    keeps: (kept) => `Es behält alle ${count(kept)}.`,
    adds: (kept, own) =>
      `Es behält alle ${count(kept)} und fügt ${quoted(own)} hinzu: ${words(kept + 1)} für einen Durchlauf.`,
    commits: (n, same) =>
      `${n === 1 ? "Das Wort kommt" : `Die ${count(n)} Wörter kommen`} zum Text${same ? "; genau das schreibt das Modell auch allein" : ""}.`,
    alone: (n) => `Nun ${n === 1 ? "dasselbe Wort" : `dieselben ${count(n)} Wörter`} ohne jede Hilfe.`,
    one: "Jedes Wort kostet einen ganzen Durchlauf.",
    both: (n, plain, time) => `${capital(count(n))} Durchläufe, ${plain}. Mit den kleinen Stufen waren es ${time}.`,
    runs: "Und die ganze Antwort, in der gemessenen Zeit.",
    ends: (gain, tokens, same) =>
      `${gain}-mal so schnell${same ? `, und derselbe Text: alle ${many(tokens, "Token", "Token")} stimmen überein` : ""}.`,
  },
};
