/** The instructor's window: what the projector shows, what to say to it, what comes next, and how the time stands. */

import { h, say } from "../../../shared/kit/dom.js";
import { notesOf } from "./plan-page.js";
import { beginsAt, stopsOf } from "./stops.js";
import { CLASS } from "../../../../text/en/class.js";

const ANSWERS_MS = 1500; // until a projector that is there has answered

/**
 * @param {import("./stops.js").ClassPlan} plan @param {Map<string, import("../figures/figure-parts.js").Lesson>} lessons by id @param {number} first the stop to begin at
 * @param {{onGo: (stop: number) => void, onShow: (stop: number) => void, onAnswer: () => void, onProjector: () => void}} ctx
 *   onGo: the projector is to go there; onShow: the notes are there
 */
export function notesPage(plan, lessons, first, { onGo, onShow, onAnswer, onProjector }) {
  const stops = stopsOf(plan);
  let at = Math.min(stops.length - 1, first);
  let began = 0;
  const button = (/** @type {string} */ name, /** @type {string} */ text, /** @type {() => void} */ onclick) =>
    h("button", { type: "button", class: name, text, onclick });
  const title = h("h1", { tabindex: "-1", text: CLASS.notesOf(plan.title) });
  const clock = h("p", { class: "hx-notes-clock", role: "timer" });
  const starts = button("hx-quiet", CLASS.startClock, () => {
    began = began ? 0 : Date.now();
    tick();
  });
  const alone = h(
    "p",
    { class: "hx-notes-alone", role: "status", hidden: true },
    CLASS.alone,
    " ",
    button("hx-quiet", CLASS.openProjector, onProjector),
  );
  const now = h("p", { class: "hx-notes-now", "aria-live": "polite" });
  const next = h("p", { class: "hx-notes-next" });
  const body = h("div", { class: "hx-notes-body" });
  const back = button("hx-quiet", CLASS.previous, () => go(-1));
  const on = button("hx-go", CLASS.next, () => go(1));
  const answer = button("hx-quiet", CLASS.answer, onAnswer);
  const el = h(
    "div",
    { class: "hx-notes" },
    h("header", { class: "hx-notes-head" }, title, clock, starts),
    alone,
    h("div", { class: "hx-notes-show" }, now, h("div", { class: "hx-notes-do" }, back, on, answer), next),
    body,
  );
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

  /** What a stop is called. @param {import("./stops.js").Stop|undefined} stop */
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
    body.replaceChildren(
      h("h2", { text: CLASS.partNow(part + 1, plan.parts.length, one.title, one.minutes) }),
      ...notesOf(one),
    );
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
