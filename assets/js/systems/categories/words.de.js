/** Was der Planer von Arten von Texten sagt. */

import { fixed } from "../../../text/numbers.js";

/** @type {import("../../../text/language.js").Translation<typeof import("./words.js")>} */
export const WORDS = {
  CATEGORIES: {
    behind: ["Nach der Art des Textes", "Annahmequoten bei Code, Übersetzung und anderem, und die besten Blocklängen"],
    label: "Arten von Texten",
    asking: "Wird ausgerechnet…",
    answer: (easy, best, hard, other) =>
      `Die besten Blocklängen hängen vom Text ab: ${best} für ${easy}, ${other} für ${hard}.`,
    same: (stack) => `Für jede Art von Text sind dieselben Blocklängen die besten: ${stack}.`,
    note: (texts) =>
      `Die Annahmequoten sind gezählt: ${texts}; Beschleunigungen sind mit den Kosten dieses Profils vorhergesagt. Mit eigenen Prompts: bench --prompts DATEI --out ORDNER, dann hier ORDNER/profile.json öffnen.`,
    table: "Annahmequoten und beste Blocklängen nach der Art des Textes",
    head: (usual) => ["Art des Textes", "angenommen, je Stufe", "beste Blocklängen", "Beschleunigung", `mit ${usual}`],
    share: (x) => fixed(x, 2),
    times: (x) => `${fixed(x, 2)}×`,
    use: "Nehmen",
    useTip: (kind) => `Diese Stufen mit den besten Blocklängen für ${kind} in den Turm stellen`,
  },
};
