/** That a question of a lesson was answered, for parts of the page that count it. */

const EVENT = "hx:answered"; // on the document

/**
 * @typedef {{lesson: string, step: number, answer: import("./figures/figure-parts.js").Answer}} Answered by the lesson's id; answer: the index of a choice, a
 *   number, or null for one that was shown
 */

/** @param {Answered} detail */
export const answered = (detail) => document.dispatchEvent(new CustomEvent(EVENT, { detail }));

/** @param {(given: Answered) => void} f */
export const onAnswered = (f) => document.addEventListener(EVENT, (/** @type {any} */ event) => f(event.detail));
