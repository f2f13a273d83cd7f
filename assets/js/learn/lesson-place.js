/** Where one is in the Learn tab, in the address: `?tab=learn&lesson=3&step=2`, or `&sheet=1`. */

import { setQuery } from "../kit/tabs.js";

/** @typedef {{lesson: number|null, step: number, sheet: boolean}} Place */

/** @returns {Place} */
export function asked() {
  const query = new URLSearchParams(location.search);
  const count = (name) => {
    const text = query.get(name) ?? "";
    return /^[1-9]\d{0,2}$/.test(text) ? Number(text) : null;
  };
  return { lesson: count("lesson"), step: count("step") ?? 1, sheet: query.get("sheet") === "1" };
}

/** Goes there: a new entry in the history, or the one that is there. @param {Place} place */
export function go({ lesson, step, sheet }, { push = true } = {}) {
  if (push) history.pushState(history.state, "");
  setQuery({
    lesson: lesson === null ? null : String(lesson),
    step: lesson === null || step === 1 ? null : String(step),
    sheet: sheet ? "1" : null,
  });
}

export const NOWHERE = Object.freeze({ lesson: null, step: 1, sheet: false });
