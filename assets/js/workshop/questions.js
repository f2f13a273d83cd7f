/** The lessons' questions, which tallies are of: fetched once, when the first one is to be shown. */

import { asked } from "../learn/library.js";
import { tabOf } from "../share/arrive.js";

/** @type {Promise<any[]>|null} */
let coming = null;

/** The lessons, in the order in which they are numbered; none where the server does not send them. @returns {Promise<any[]>} */
export function lessons() {
  coming ??= asked("lessons").then(
    ({ lessons }) => lessons,
    () => {
      coming = null; // who asks again tries again
      return [];
    },
  );
  return coming;
}

/** A step. @param {any[]} all @param {{lesson: string, step: number}} of */
export const stepOfTally = (all, { lesson, step }) => all.find((one) => one.id === lesson)?.steps[step - 1] ?? null;

/**
 * The step with a question that an address shows, by the lesson's id; null for none.
 * @param {any[]} all @param {string} search @returns {{lesson: string, step: number}|null}
 */
export function askedAt(all, search) {
  const query = new URLSearchParams(search);
  const found = all.find((one, i) => (parseInt(one.id, 10) || i + 1) === Number(query.get("lesson")));
  const step = Number(query.get("step") ?? 1);
  return tabOf(search) === "learn" && found?.steps[step - 1]?.question ? { lesson: found.id, step } : null;
}
