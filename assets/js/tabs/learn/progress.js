/** How far a visitor has come: kept in the browser (the step of each lesson, what was answered, which are done),
 *  and told to those who count answers. */

const KEY = "hx-lessons";

/** @typedef {{step?: number, done?: boolean, answers?: Record<string, any>}} Kept */

function all() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return kept && typeof kept === "object" ? kept : {};
  } catch {
    return {}; // nothing is kept, or it is no longer readable
  }
}

/** @param {string} id @returns {Kept} */
export const kept = (id) => all()[id] ?? {};

/** @param {string} id @param {Kept} more */
export function keep(id, more) {
  try {
    const before = all();
    localStorage.setItem(KEY, JSON.stringify({ ...before, last: id, [id]: { ...before[id], ...more } }));
  } catch {
    // A browser that keeps nothing begins every lesson again.
  }
}

/** The lesson that was open last. @returns {string|null} */
export const lastOpen = () => all().last ?? null;

export function forget() {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // There was nothing.
  }
}

// That a question was answered.

const EVENT = "hx:answered"; // on the document

/** @typedef {{lesson: string, step: number, answer: import("./figures/run-figures.js").Answer}} Answered by the lesson's id; answer: the index of a choice, a
 *    number, or null for one that was shown */

/** @param {Answered} detail */
export const answered = (detail) => document.dispatchEvent(new CustomEvent(EVENT, { detail }));

/** @param {(given: Answered) => void} f */
export const onAnswered = (f) => document.addEventListener(EVENT, (/** @type {any} */ event) => f(event.detail));
