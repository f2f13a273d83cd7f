/** Was zu einer Stufe mit laufender Summe gesagt wird. */

import { many } from "../../../text/many.js";

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  STATE: {
    sum: "die laufende Summe des ganzen Textes davor",
    says: (x) =>
      `${x.name} führt eine laufende Summe des Textes und keine Schlüssel. In einem Durchlauf liest jedes ihrer ${many(x.tokens, "Token", "Token")} diese Summe (links) und die Token auf seinem eigenen Pfad: ${x.read} von ${x.all} Zellen.`,
  },
  MEMORY: {
    title: "Was ein Entwurf behält",
    about: "Bytes und Zeit nach der Länge des Textes: Schlüssel und Werte neben laufenden Summen",
    lead: (preset, x) =>
      `Zwei Entwürfe von ${preset}, gleich groß: nano behält Schlüssel und Werte jedes Tokens, nano-states eine laufende Summe, wie die Entwürfe von STree (arXiv 2505.14969). ${x.machine}, ${x.day}.`,
    unreachable: "Der Server konnte nicht senden, was Entwürfe behalten; öffnen Sie diesen Reiter noch einmal.",
    command: "Befehl",
    length: "Token des Textes",
    draft: "Entwurf",
    bytes: {
      title: "Was vom Text behalten wird",
      text: "Gezählt. Schlüssel und Werte wachsen mit dem Text. Eine Summe wächst nicht; neben ihr stehen die Eingaben der letzten Token, damit ein Entwurf zurückgenommen werden kann.",
      axis: "MB",
      hover: "%{fullData.name}<br>%{x:,} Token: %{y:.2f} MB<extra></extra>",
    },
    ms: {
      title: "Was ein weiteres entworfenes Token kostet",
      text: "Gemessen, mit Intervallen von 95 %. Bei kurzen Texten sind Schlüssel und Werte schneller gelesen: Ihr Entwurf läuft kompiliert, die Summe nicht.",
      axis: "ms",
      hover: "%{fullData.name}<br>%{x:,} Token: %{y:.2f} ms<extra></extra>",
    },
  },
};
