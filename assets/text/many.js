/** Counting as the page's language does it: "1 token", "3 tokens". */

import { LANGUAGE } from "./language.js";

const rules = new Intl.PluralRules(LANGUAGE);

/** @param {number} n @param {string} word @param {string} [more] of several; English adds an s */
export const many = (n, word, more = `${word}s`) => `${n} ${rules.select(n) === "one" ? word : more}`;
