/** Where one is in the Learn tab, in the address: `?tab=learn&lesson=3&step=2`, with `beside=1` next to Explore, `&sheet=1`,
 *  or `&class=45`: its plan, with `notes=1` the instructor's notes, with `stop=4` what the projector shows. */

import { setQuery } from "../../shared/kit/tabs.js";

/**
 * @typedef {{lesson: number|null, step: number, beside: boolean, sheet: boolean, class: string|null, stop: number|null,
 *   notes: boolean}} Place class: by its id; stop: counted from 0, from 1 in the address
 */

/** @returns {Place} */
export function asked() {
  const query = new URLSearchParams(location.search);
  const count = (/** @type {string} */ name) => {
    const text = query.get(name) ?? "";
    return /^[1-9]\d{0,2}$/.test(text) ? Number(text) : null;
  };
  const on = (/** @type {string} */ name) => query.get(name) === "1";
  const stop = count("stop");
  return {
    ...{ lesson: count("lesson"), step: count("step") ?? 1, beside: on("beside"), sheet: on("sheet") },
    ...{ class: query.get("class")?.slice(0, 80) ?? null, stop: stop === null ? null : stop - 1, notes: on("notes") },
  };
}

/** Goes there: a new entry in the history, or the one that is there. @param {Place} place */
export function go({ lesson, step, beside, sheet, class: named, stop, notes }, { push = true } = {}) {
  if (push) history.pushState(history.state, "");
  setQuery({
    lesson: lesson === null ? null : String(lesson),
    step: lesson === null || step === 1 ? null : String(step),
    beside: lesson !== null && beside ? "1" : null,
    sheet: sheet ? "1" : null,
    class: named,
    stop: named === null || stop === null ? null : String(stop + 1),
    notes: named !== null && notes ? "1" : null,
  });
}

/** @type {Readonly<Place>} */
export const NOWHERE = Object.freeze({
  ...{ lesson: null, step: 1, beside: false, sheet: false },
  ...{ class: null, stop: null, notes: false },
});
