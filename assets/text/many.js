/** Counting, as this language does it: "1 token", "3 tokens". */

export const many = (/** @type {number} */ n, /** @type {string} */ word, more = `${word}s`) =>
  `${n} ${n === 1 ? word : more}`;
