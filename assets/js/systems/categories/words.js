/** What the Planner says of kinds of text. */

import { translate } from "../../../text/language.js";
import { fixed } from "../../../text/numbers.js";

export const CATEGORIES = {
  behind: ["By kind of text", "acceptances on code, translation and others, and the best block lengths for each"],
  label: "Kinds of text",
  asking: "Working it out\u2026",
  /** @param {string} easy @param {string} best @param {string} hard @param {string} other */
  answer: (easy, best, hard, other) =>
    `The best block lengths depend on the text: ${best} for ${easy}, ${other} for ${hard}.`,
  /** @param {string} stack */
  same: (stack) => `The same block lengths are best for every kind of text: ${stack}.`,
  /** @param {string} texts */
  note: (texts) =>
    `Acceptances were counted on ${texts}; speed-ups are predicted with this profile\u2019s costs. Your own prompts: bench --prompts FILE --out DIR, then open DIR/profile.json here.`,
  table: "Acceptances and best block lengths by kind of text",
  /** @param {string} usual */
  head: (usual) => ["kind of text", "accepted, by level", "best block lengths", "speed-up", `with ${usual}`],
  /** @param {number} x */
  share: (x) => fixed(x, 2),
  /** @param {number} x */
  times: (x) => `${fixed(x, 2)}\u00d7`,
  use: "Use",
  /** @param {string} kind */
  useTip: (kind) => `Put these levels, with the block lengths that are best for ${kind}, into the tower`,
};

translate("systems/categories", { CATEGORIES });
