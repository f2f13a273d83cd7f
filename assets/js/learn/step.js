/** One step of a lesson: what it says, what it asks, and, once that is answered, what it reveals. */

import { h } from "../kit/dom.js";
import { questionOf } from "./question.js";
import { rich, told } from "./rich.js";
import { WORDS } from "../words/tabs/learn.js";

/**
 * @param {any} step as app/learn/lessons.py declares it
 * @param {{goal: string, answer: any, ready: boolean, sources: () => import("./figures/refs.js").Sources,
 *   onAnswer: (answer: any) => void, onAgain: () => void}} ctx goal: of the lesson, "" after its first step; ready: whether
 *   the figures are at hand; onAgain: the reveal's action once more
 */
export function stepOf(step, ctx) {
  const heading = h("h3", { class: "hx-step-title", tabindex: "-1", text: step.title });
  const el = h(
    "div",
    { class: "hx-step" },
    ctx.goal ? h("p", { class: "hx-goal" }, h("b", { text: WORDS.goal }), " ", ...rich(ctx.goal)) : null,
    heading,
    h("p", {}, ...rich(step.text)),
    step.question ? questionOf(step.question, ctx) : null,
    ctx.answer !== undefined && step.reveal ? revealOf(step.reveal, ctx.onAgain) : null,
  );
  return { el, heading };
}

function revealOf(reveal, onAgain) {
  return h(
    "div",
    { class: "hx-reveal" },
    h("p", {}, ...told(reveal)),
    reveal.action ? h("button", { type: "button", class: "hx-quiet", text: WORDS.again, onclick: onAgain }) : null,
  );
}

/**
 * The last page of a lesson: one thing to try, and what to keep.
 * @param {any} lesson @param {{onTry: () => void}} ctx
 */
export function closingOf(lesson, { onTry }) {
  const heading = h("h3", { class: "hx-step-title", tabindex: "-1", text: WORDS.tryIt });
  const task = lesson.try;
  const el = h(
    "div",
    { class: "hx-step" },
    heading,
    h("p", {}, ...rich(task.text)),
    task.action
      ? h("button", { type: "button", class: "hx-quiet hx-try", text: task.button ?? "", onclick: onTry })
      : null,
    h("h3", { class: "hx-step-title", text: WORDS.summary }),
    h("ul", { class: "hx-keep" }, ...lesson.summary.map((line) => h("li", {}, ...rich(line)))),
    lesson.sources?.length
      ? h("p", { class: "hx-sources" }, h("b", { text: WORDS.sources }), " ", lesson.sources.join("; "))
      : null,
  );
  return { el, heading };
}
