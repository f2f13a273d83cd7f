/** One step of a lesson: its picture, what it says, what it asks, and, once that is answered, what it reveals and a way to
 *  see it in Explore. */

import { h } from "../../shared/kit/dom.js";
import { questionOf } from "./question.js";
import { rich, told } from "./figures/rich.js";
import { WORDS } from "../../../text/en/learn.js";

/** @typedef {import("./figures/figure-parts.js").Lesson} Lesson @typedef {import("./figures/figure-parts.js").Step} Step */
/** @typedef {import("./figures/figure-parts.js").Answer} Answer */

/**
 * @param {Step} step
 * @param {{goal: string, picture: HTMLElement|null, answer: Answer|undefined, ready: boolean, beside: boolean,
 *   sources: () => import("./figures/refs.js").Sources, onAnswer: (answer: Answer) => void, onExplore: () => void}} ctx goal: of
 *   the lesson, "" after its first step; ready: whether the figures are at hand; beside: whether Explore is in sight;
 *   onExplore: there, or back
 */
export function stepOf(step, ctx) {
  const heading = h("h2", { class: "hx-step-title", tabindex: "-1", text: step.title });
  const answered = !step.question || ctx.answer !== undefined;
  const el = h(
    "div",
    { class: "hx-step" },
    ctx.goal ? h("p", { class: "hx-goal" }, h("b", { text: WORDS.goal }), " ", ...rich(ctx.goal)) : null,
    heading,
    ctx.picture ?? h("p", { class: "hx-sketch hx-sketch-waits", role: "status", text: WORDS.reading }),
    h(
      "div",
      { class: "hx-step-says" },
      h("p", {}, ...rich(step.text, new Set())),
      answered && step.reveal ? h("p", { class: "hx-reveal" }, ...told(step.reveal)) : null,
      explore(step, answered, ctx),
    ),
    step.question ? questionOf(step.question, ctx) : null,
  );
  return { el, heading };
}

/** Explore is one press away, but not while it would answer the question.
 *  @param {Step} step @param {boolean} answered @param {{beside: boolean, onExplore: () => void}} ctx */
function explore(step, answered, { beside, onExplore }) {
  if (!step.action?.recording && !step.action?.at) return null;
  const button = h("button", {
    type: "button",
    class: "hx-quiet hx-step-explore",
    text: beside ? WORDS.alone : WORDS.explore,
    disabled: !answered,
    onclick: onExplore,
  });
  return h("p", { class: "hx-step-do" }, button, answered ? null : h("small", { text: WORDS.exploreLater }));
}

/**
 * The last page of a lesson: one thing to try, and what to keep.
 * @param {Lesson} lesson @param {{onTry: () => void}} ctx
 */
export function closingOf(lesson, { onTry }) {
  const heading = h("h2", { class: "hx-step-title", tabindex: "-1", text: WORDS.tryIt });
  const task = lesson.try;
  const el = h(
    "div",
    { class: "hx-step" },
    heading,
    h("p", {}, ...rich(task.text)),
    task.action
      ? h("button", { type: "button", class: "hx-quiet hx-try", text: task.button ?? "", onclick: onTry })
      : null,
    h("h2", { class: "hx-step-title", text: WORDS.summary }),
    h("ul", { class: "hx-keep" }, ...lesson.summary.map((line) => h("li", {}, ...rich(line)))),
    lesson.sources?.length
      ? h("p", { class: "hx-sources" }, h("b", { text: WORDS.sources }), " ", lesson.sources.join("; "))
      : null,
  );
  return { el, heading };
}
