/** The instructor's pages of a class: the notes of its stops (what the projector shows, what to say, what comes
 *  next, how the time stands), and its plan. */

import { h, say } from "../../../shared/kit/dom.js";
import { beginsAt, stopsOf } from "./stops.js";
import { CLASS } from "../../../../text/en/class.js";
import { rich } from "../figures/rich.js";

/** @import {Lesson} from "../figures/run-figures.js" @import {ClassPart, ClassPlan, Stop} from "./stops.js" */

const ANSWERS_MS = 1500; // until a projector that is there has answered

/** @param {ClassPlan} plan @param {Map<string, Lesson>} lessons by id @param {number} first the stop to begin at
 *  @param {{onGo: (stop: number) => void, onShow: (stop: number) => void, onAnswer: () => void, onProjector: () => void}} ctx
 *    onGo: the projector is to go there; onShow: the notes are there */
export function notesPage(plan, lessons, first, { onGo, onShow, onAnswer, onProjector }) {
  const stops = stopsOf(plan);
  let at = Math.min(stops.length - 1, first);
  let began = 0;
  const button = (/** @type {string} */ name, /** @type {string} */ text, /** @type {() => void} */ onclick) =>
    h("button", { class: name, text, onclick });
  const title = h("h1", { tabindex: "-1", text: CLASS.notesOf(plan.title) });
  const clock = h("p.hx-notes-clock", { role: "timer" });
  const starts = button("hx-quiet", CLASS.startClock, () => {
    began = began ? 0 : Date.now();
    tick();
  });
  const alone = h("p.hx-notes-alone", { role: "status", hidden: true }, [
    CLASS.alone,
    " ",
    button("hx-quiet", CLASS.openProjector, onProjector),
  ]);
  const now = h("p.hx-notes-now", { "aria-live": "polite" });
  const next = h("p.hx-notes-next");
  const body = h("div.hx-notes-body");
  const back = button("hx-quiet", CLASS.previous, () => go(-1));
  const on = button("hx-go", CLASS.next, () => go(1));
  const answer = button("hx-quiet", CLASS.answer, onAnswer);
  const el = h("div.hx-notes", [
    h("header.hx-notes-head", [title, clock, starts]),
    alone,
    h("div.hx-notes-show", [now, h("div.hx-notes-do", [back, on, answer]), next]),
    body,
  ]);
  // Wherever the focus is: a presenter's remote control knows nothing of it.
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    const by = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }[event.key];
    if (!by || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    go(by);
  };
  document.addEventListener("keydown", pressed);
  const ticking = setInterval(tick, 1000);
  const waiting = setTimeout(() => (alone.hidden = false), ANSWERS_MS);

  function go(/** @type {number} */ by) {
    const to = Math.min(stops.length - 1, Math.max(0, at + by));
    if (to !== at) onGo(to);
    show(to);
  }

  /** What a stop is called. @param {Stop|undefined} stop */
  function nameOf(stop) {
    if (!stop) return CLASS.end;
    if (stop.what === "card") return CLASS.card[stop.kind](stop.text);
    if (stop.what === "open") return CLASS.tab(stop.open);
    const lesson = lessons.get(stop.lesson);
    return CLASS.step(lesson?.number, stop.step, lesson?.steps[stop.step - 1]?.title ?? "");
  }

  function tick() {
    const { part } = stops[at];
    const due = beginsAt(plan, part) + plan.parts[part].minutes;
    say(starts, began ? CLASS.stopClock : CLASS.startClock);
    say(clock, CLASS.clock(began ? Math.floor((Date.now() - began) / 1000) : null, due, plan.minutes));
    clock.dataset.late = String(began > 0 && Date.now() - began > due * 60_000);
  }

  function show(/** @type {number} */ stop) {
    at = stop;
    const { part } = stops[at];
    const one = plan.parts[part];
    say(now, CLASS.shown(at + 1, stops.length, nameOf(stops[at])));
    say(next, CLASS.then(nameOf(stops[at + 1])));
    back.toggleAttribute("disabled", at === 0);
    on.toggleAttribute("disabled", at === stops.length - 1);
    const shown = stops[at];
    answer.hidden = shown.what !== "step" || !lessons.get(shown.lesson)?.steps[shown.step - 1]?.question;
    body.replaceChildren(h("h2", CLASS.partNow(part + 1, plan.parts.length, one.title, one.minutes)), ...notesOf(one));
    tick();
    onShow(at);
  }

  show(at);
  return {
    el,
    title,
    /** The projector says what it shows. @param {number} stop */
    heard(stop) {
      clearTimeout(waiting);
      alone.hidden = true;
      if (stop >= 0 && stop < stops.length && stop !== at) show(stop);
    },
    end: () => {
      document.removeEventListener("keydown", pressed);
      clearInterval(ticking);
      clearTimeout(waiting);
    },
  };
}

// The plan of a class, to be read before it and printed: its parts with their minutes, what to say, what a room asks.

/** @param {ClassPlan} plan @param {Map<string, Lesson>} lessons by id
 *  @param {{onBack: () => void, onStart: () => void, onNotes: () => void}} ctx */
export function planPage(plan, lessons, { onBack, onStart, onNotes }) {
  const button = (/** @type {string} */ name, /** @type {string} */ text, /** @type {() => void} */ onclick) =>
    h("button", { class: name, text, onclick });
  const title = h("h1", { tabindex: "-1", text: plan.title });
  const el = h("div.hx-sheet-page.hx-class-plan", [
    h("div.hx-sheet-do", [
      button("hx-quiet", CLASS.back, onBack),
      button("hx-go", CLASS.both, onNotes),
      button("hx-quiet", CLASS.start, onStart),
      button("hx-quiet", CLASS.print, () => print()),
    ]),
    h("article.hx-paper", [
      title,
      h("p.hx-paper-goal", plan.goal),
      !!plan.before?.length && h("h2", CLASS.before),
      !!plan.before?.length && h("ul.hx-paper-keep", [plan.before.map((x) => h("li", rich(x)))]),
      plan.parts.map((part, i) => partOf(plan, part, i, lessons)),
    ]),
  ]);
  return { el, title };
}

/** @param {ClassPlan} plan @param {ClassPart} part @param {number} i @param {Map<string, Lesson>} lessons */
function partOf(plan, part, i, lessons) {
  const lesson = lessons.get(part.lesson ?? "");
  const from = beginsAt(plan, i);
  return h("section.hx-paper-lesson", [
    h("h2", CLASS.part(i + 1, part.title, from, from + part.minutes)),
    lesson && h("p.hx-paper-text", CLASS.shows(lesson.number, lesson.title, part.steps ?? [])),
    notesOf(part),
  ]);
}

/** What a part gives its instructor: what to say, what will be asked, what to ask, what to do. @param {Partial<ClassPart>} part */
export function notesOf(part) {
  const list = (/** @type {string} */ name, /** @type {Node[]} */ items) =>
    items.length ? [h("h3", name), h("ul.hx-class-list", items)] : [];
  const told = (/** @type {string[]} */ texts = []) => texts.map((text) => h("li", rich(text)));
  const asked = (part.asked ?? []).map((one) => h("li", [h("b", rich(one.ask)), " ", rich(one.answer)]));
  const tasks = (part.tasks ?? []).map((one) =>
    h("li", [rich(one.text), one.outcome && h("small", [" ", CLASS.outcome, " ", rich(one.outcome)])]),
  );
  return [
    ...list(CLASS.say, told(part.say)),
    ...list(CLASS.asked, asked),
    ...list(CLASS.tasks, tasks),
    ...list(CLASS.discuss, told(part.discuss)),
  ];
}
