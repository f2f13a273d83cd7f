/** A class as what is shown one after the other: steps of lessons, other tabs, tasks and questions for the room. */

/**
 * `lesson` and `step`: of a lesson; `open`: the address of another tab; `card`: a text for the room, of this `kind`.
 * @typedef {{part: number, what: "step", lesson: string, step: number}} StepStop
 * @typedef {{part: number, what: "open", open: string}} OpenStop
 * @typedef {{part: number, what: "card", kind: "task"|"discuss", text: string, open: string}} CardStop
 * @typedef {StepStop | OpenStop | CardStop} Stop
 */

/** @param {any} plan as app/tabs/learn/classes.py declares it @returns {Stop[]} */
export function stopsOf(plan) {
  return plan.parts.flatMap((/** @type {any} */ one, /** @type {number} */ part) => [
    ...(one.steps ?? []).map((/** @type {number} */ step) => ({ part, what: "step", lesson: one.lesson, step })),
    ...(one.open ? [{ part, what: "open", open: one.open }] : []),
    ...(one.tasks ?? []).map((/** @type {any} */ task) => ({
      ...{ part, what: "card", kind: "task", text: task.text, open: task.open ?? "" },
    })),
    ...(one.discuss ?? []).map((/** @type {string} */ text) => ({
      part,
      what: "card",
      kind: "discuss",
      text,
      open: "",
    })),
  ]);
}

/**
 * What shows a stop to a room: its address, which `app/workshop/sent.py` takes.
 * @param {Stop} found @param {{id: string, stop: number, lesson: number|null}} where lesson: the number of a step's
 */
export function stopAddress(found, { id, stop, lesson }) {
  if (found.what === "open") return `?${new URLSearchParams(found.open)}`;
  const query = new URLSearchParams({ tab: "learn" });
  if (found.what === "card") query.set("class", id);
  if (found.what === "card") query.set("stop", String(stop + 1));
  if (found.what === "step" && lesson !== null) query.set("lesson", String(lesson));
  if (found.what === "step" && found.step > 1) query.set("step", String(found.step));
  return `?${query}`;
}

/** When a part begins, minutes from the start of the class. @param {any} plan @param {number} part */
export const beginsAt = (plan, part) =>
  plan.parts.slice(0, part).reduce((/** @type {number} */ sum, /** @type {any} */ one) => sum + one.minutes, 0);
