/** Was zu einer Stufe mit laufender Summe gesagt wird. */

import { many } from "../../../text/many.js";

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  STATE: {
    sum: "die laufende Summe des ganzen Textes davor",
    says: (x) =>
      `${x.name} führt eine laufende Summe des Textes und keine Schlüssel. In einem Durchlauf liest jedes ihrer ${many(x.tokens, "Token", "Token")} diese Summe (links) und die Token auf seinem eigenen Pfad: ${x.read} von ${x.all} Zellen.`,
  },
};
