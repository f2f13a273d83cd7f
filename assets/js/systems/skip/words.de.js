/** Die Karte der Teilschichten. */

import { many } from "../../../text/many.js";
import { ratio } from "../../../text/numbers.js";

const percent = (/** @type {number} */ share) => `${Math.round(100 * share)}\u202f%`;

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  LADDER: {
    title: "Was ohne jede Teilschicht verloren geht",
    kinds: { attention: "Attention", mlp: "MLP" },
    layer: "Schicht",
    cell: (kind, layer, lost, out) =>
      `${kind} von Schicht ${layer}: ohne sie allein gehen ${percent(lost)} der Token des Zielmodells verloren${out ? "; hier ausgelassen" : ""}`,
    picture: (layers, heavy) =>
      `${layers} Schichten von links nach rechts, Attention über MLP, dunkler, wo mehr verloren geht. Am meisten: ${heavy.join(", ")}.`,
    heavy: (kind, layer, lost) => `${kind} ${layer} (${percent(lost)})`,
    slider: "ausgelassen, das billigste zuerst",
    none: "Nichts ausgelassen: das Zielmodell selbst, das mit sich übereinstimmt.",
    step: (count, agree, left, gain) =>
      `${count} ausgelassen: bei ${percent(agree)} der Token richtig, liest ${percent(left)} der Gewichte; bestenfalls ${ratio(gain)}× einfaches Dekodieren.`,
    rows: "eine Spalte je Schicht: oben Attention, unten MLP",
    legend: { little: "wenig geht verloren", all: "alles geht verloren", out: "ausgelassen" },
    figures: "Alle Zahlen",
    lost: "ohne sie allein verloren",
    read: (places, texts, machine) =>
      `Jede für sich, an ${many(places, "Token", "Token")} von ${many(texts, "Text", "Texten")}, gelesen als erstes eines Entwurfs. ${machine}. Bestenfalls: der Entwurf kostet seinen Anteil an den Gewichten, und jedes seiner Token stimmt so oft wie das erste.`,
  },
};
