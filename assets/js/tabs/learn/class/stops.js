/** A class as what is shown one after the other: steps of lessons, other tabs, tasks and questions for the room;
 *  and the two windows that show it. */

/** `lesson` and `step`: of a lesson; `open`: the address of another tab; `card`: a text for the room, of this `kind`.
 *  @typedef {{part: number, what: "step", lesson: string, step: number}} StepStop
 *  @typedef {{part: number, what: "open", open: string}} OpenStop
 *  @typedef {{part: number, what: "card", kind: "task"|"discuss", text: string, open: string}} CardStop
 *  @typedef {StepStop | OpenStop | CardStop} Stop */

/** As app/tabs/learn/classes.py declares it.
 *  @typedef {{title: string, minutes: number, say: string[], lesson?: string, steps?: number[], open?: string, asked?: {ask: string, answer: string}[],
 *    discuss?: string[], tasks?: {text: string, outcome: string, open?: string}[]}} ClassPart
 *  @typedef {{id: string, title: string, goal: string, minutes: number, parts: ClassPart[], before?: string[]}} ClassPlan
 */

/** @param {ClassPlan} plan @returns {Stop[]} */
export function stopsOf(plan) {
  return plan.parts.flatMap(({ steps = [], lesson = "", open, tasks = [], discuss = [] }, part) => {
    /** @type {Stop[]} */ const stops = steps.map((step) => ({ part, what: "step", lesson, step }));
    if (open) stops.push({ part, what: "open", open });
    for (const task of tasks) stops.push({ part, what: "card", kind: "task", text: task.text, open: task.open ?? "" });
    for (const text of discuss) stops.push({ part, what: "card", kind: "discuss", text, open: "" });
    return stops;
  });
}

/** What shows a stop to a room: its address, which `app/workshop/room.py` takes.
 *  @param {Stop} found @param {{id: string, stop: number, lesson: number|null}} where lesson: the number of a step's */
export function stopAddress(found, { id, stop, lesson }) {
  if (found.what === "open") return `?${new URLSearchParams(found.open)}`;
  const query = new URLSearchParams({ tab: "learn" });
  if (found.what === "card") query.set("class", id);
  if (found.what === "card") query.set("stop", String(stop + 1));
  if (found.what === "step" && lesson !== null) query.set("lesson", String(lesson));
  if (found.what === "step" && found.step > 1) query.set("step", String(found.step));
  return `?${query}`;
}

/** When a part begins, minutes from the start of the class. @param {ClassPlan} plan @param {number} part */
export const beginsAt = (plan, part) => plan.parts.slice(0, part).reduce((sum, one) => sum + one.minutes, 0);

// The projector and the instructor's notes, two windows of one browser: what is shown, and what is to be shown. No
// server takes part.

const NAME = "hx-class";

/** @typedef {{id: string, stop: number}} Where
 *  @typedef {{ask: true} | {at: Where, seen: boolean} | {go: Where} | {answer: true}} Message ask: where are you; at: here, and
 *    whether that window is in sight; go: there; answer: show the answer */

export class TwoWindows {
  /** @param {(message: any) => void} hear */
  constructor(hear) {
    this.channel = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel(NAME);
    this.channel?.addEventListener("message", ({ data }) => hear(data));
  }

  /** @param {Message} message */
  say(message) {
    this.channel?.postMessage(message);
  }
}
