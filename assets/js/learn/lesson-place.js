/** Where one is in the Learn tab, in the address: `?tab=learn&lesson=3&step=2`, with `beside=1` next to Explore, or
 *  `&sheet=1`. */

import { setQuery } from "../kit/tabs.js";

/** @typedef {{lesson: number|null, step: number, beside: boolean, sheet: boolean}} Place */

/** @returns {Place} */
export function asked() {
  const query = new URLSearchParams(location.search);
  const count = (name) => {
    const text = query.get(name) ?? "";
    return /^[1-9]\d{0,2}$/.test(text) ? Number(text) : null;
  };
  const on = (/** @type {string} */ name) => query.get(name) === "1";
  return { lesson: count("lesson"), step: count("step") ?? 1, beside: on("beside"), sheet: on("sheet") };
}

/** Goes there: a new entry in the history, or the one that is there. @param {Place} place */
export function go({ lesson, step, beside, sheet }, { push = true } = {}) {
  if (push) history.pushState(history.state, "");
  setQuery({
    lesson: lesson === null ? null : String(lesson),
    step: lesson === null || step === 1 ? null : String(step),
    beside: lesson !== null && beside ? "1" : null,
    sheet: sheet ? "1" : null,
  });
}

export const NOWHERE = Object.freeze({ lesson: null, step: 1, beside: false, sheet: false });
