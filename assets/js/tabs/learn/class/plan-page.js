/** The plan of a class, to be read before it and printed: its parts with their minutes, what to say, what a room asks. */

import { h } from "../../../shared/kit/dom.js";
import { rich } from "../figures/rich.js";
import { beginsAt } from "./stops.js";
import { CLASS } from "../../../../text/en/class.js";

/** @typedef {import("./stops.js").ClassPlan} ClassPlan @typedef {import("./stops.js").ClassPart} ClassPart */
/** @typedef {import("../figures/figure-parts.js").Lesson} Lesson */

/**
 * @param {ClassPlan} plan @param {Map<string, Lesson>} lessons by id
 * @param {{onBack: () => void, onStart: () => void, onNotes: () => void}} ctx
 */
export function planPage(plan, lessons, { onBack, onStart, onNotes }) {
  const button = (/** @type {string} */ name, /** @type {string} */ text, /** @type {() => void} */ onclick) =>
    h("button", { type: "button", class: name, text, onclick });
  const title = h("h1", { tabindex: "-1", text: plan.title });
  const el = h(
    "div",
    { class: "hx-sheet-page hx-class-plan" },
    h(
      "div",
      { class: "hx-sheet-do" },
      button("hx-quiet", CLASS.back, onBack),
      button("hx-go", CLASS.both, onNotes),
      button("hx-quiet", CLASS.start, onStart),
      button("hx-quiet", CLASS.print, () => print()),
    ),
    h(
      "article",
      { class: "hx-paper" },
      title,
      h("p", { class: "hx-paper-goal", text: plan.goal }),
      plan.before?.length ? h("h2", { text: CLASS.before }) : null,
      plan.before?.length
        ? h("ul", { class: "hx-paper-keep" }, ...plan.before.map((x) => h("li", {}, ...rich(x))))
        : null,
      ...plan.parts.map((part, i) => partOf(plan, part, i, lessons)),
    ),
  );
  return { el, title };
}

/** @param {ClassPlan} plan @param {ClassPart} part @param {number} i @param {Map<string, Lesson>} lessons */
function partOf(plan, part, i, lessons) {
  const lesson = lessons.get(part.lesson ?? "");
  const from = beginsAt(plan, i);
  return h(
    "section",
    { class: "hx-paper-lesson" },
    h("h2", { text: CLASS.part(i + 1, part.title, from, from + part.minutes) }),
    lesson
      ? h("p", { class: "hx-paper-text", text: CLASS.shows(lesson.number, lesson.title, part.steps ?? []) })
      : null,
    ...notesOf(part),
  );
}

/** What a part gives its instructor: what to say, what will be asked, what to ask, what to do. @param {Partial<ClassPart>} part */
export function notesOf(part) {
  const list = (/** @type {string} */ name, /** @type {Node[]} */ items) =>
    items.length ? [h("h3", { text: name }), h("ul", { class: "hx-class-list" }, ...items)] : [];
  const told = (/** @type {string[]} */ texts = []) => texts.map((text) => h("li", {}, ...rich(text)));
  const asked = (part.asked ?? []).map((one) => h("li", {}, h("b", {}, ...rich(one.ask)), " ", ...rich(one.answer)));
  const tasks = (part.tasks ?? []).map((one) =>
    h("li", {}, ...rich(one.text), one.outcome ? h("small", {}, " ", CLASS.outcome, " ", ...rich(one.outcome)) : null),
  );
  return [
    ...list(CLASS.say, told(part.say)),
    ...list(CLASS.asked, asked),
    ...list(CLASS.tasks, tasks),
    ...list(CLASS.discuss, told(part.discuss)),
  ];
}
