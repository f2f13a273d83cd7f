/** A class in the Learn tab: its plan, its cards, the instructor's notes, and the stops that the projector goes through. */

import { h } from "../../../shared/kit/dom.js";
import { openTab, setQuery } from "../../../shared/kit/tabs.js";
import { notesPage, planPage } from "./notes-page.js";
import { stopsOf, TwoWindows } from "./stops.js";
import { rich } from "../figures/rich.js";
import { CLASS } from "../../../../text/en/class.js";

/** @import {Lesson} from "../figures/run-figures.js" @import {CardStop, ClassPlan, Stop} from "./stops.js" */

const SIZE = "width=900,height=820"; // of the notes' window

/** @typedef {{el: HTMLElement, title: HTMLElement, end?: () => void, heard?: (stop: number) => void}} Page */

export class ClassRoom {
  /** @param {{go: (place: Record<string, any>) => void, answer: () => void}} ctx go: to a place of the Learn tab; answer: shows
   *    the answer of the step that is open */
  constructor(ctx) {
    this.ctx = ctx;
    /** @type {ClassPlan[]} */ this.plans = [];
    /** @type {Map<string, Lesson>} */ this.lessons = new Map();
    this.el = h("div.hx-class", { hidden: true });
    /** @type {Page|null} */ this.page = null;
    /** @type {{id: string, stop: number}|null} */ this.at = null; // on the projector
    this.windows = new TwoWindows((message) => this._hear(message));
  }

  /** @param {ClassPlan[]} plans @param {Lesson[]} lessons */
  learn(plans, lessons) {
    this.plans = plans;
    this.lessons = new Map(lessons.map((one) => [one.id, one]));
  }

  /** @param {string} id */
  plan = (id) => this.plans.find((one) => one.id === id) ?? null;

  /** Of a class; none where it is not there. @param {string} id */
  stops(id) {
    const plan = this.plan(id);
    return plan ? stopsOf(plan) : [];
  }

  /** Shows what an address asks for; whether it led elsewhere instead: to the lesson of a stop, or to another tab.
   *  @param {ClassPlan} plan @param {{stop: number|null, notes: boolean, lesson: number|null}} asked */
  show(plan, { stop, notes, lesson }) {
    const found = stop === null ? null : stopsOf(plan)[stop];
    this.end();
    if (notes) this._put(this._notes(plan, stop ?? 0));
    else if (!found || stop === null) this._put(this._planned(plan));
    else if (found.what === "open" || (found.what === "step" && lesson === null)) {
      this.to({ id: plan.id, stop });
      return true;
    } else this._stop(plan, stop, found);
    return false;
  }

  end() {
    this.page?.end?.();
    this.page = null;
    this.el.hidden = true;
    this.at = null;
  }

  /** A step on or back in the class; whether one is held. @param {1|-1} direction */
  move(direction) {
    if (!this.at) return false;
    const last = this.stops(this.at.id).length - 1;
    this.to({ ...this.at, stop: Math.min(last, Math.max(0, this.at.stop + direction)) });
    return true;
  }

  /** Leads the projector to a stop. @param {{id: string, stop: number}} where */
  to({ id, stop }) {
    const found = this.stops(id)[stop];
    if (!found) return;
    if (found.what === "open") {
      this.at = { id, stop };
      const query = new URLSearchParams(found.open);
      openTab(query.get("tab") ?? "");
      setQuery(Object.fromEntries(query));
      this._here();
    } else {
      openTab("learn");
      const lesson = found.what === "step" ? (this.lessons.get(found.lesson)?.number ?? null) : null;
      this.ctx.go({ class: id, stop, lesson, step: found.what === "step" ? found.step : 1 });
    }
  }

  _put(/** @type {Page} */ page) {
    this.page = page;
    this.el.hidden = false;
    this.el.replaceChildren(page.el);
    page.title.focus({ preventScroll: true });
  }

  _planned(/** @type {ClassPlan} */ plan) {
    return planPage(plan, this.lessons, {
      onBack: () => this.ctx.go({}),
      onStart: () => this.to({ id: plan.id, stop: 0 }),
      onNotes: () => {
        open(`?${new URLSearchParams({ tab: "learn", class: plan.id, notes: "1" })}`, "hx-notes", SIZE);
        this.to({ id: plan.id, stop: 0 });
      },
    });
  }

  _notes(/** @type {ClassPlan} */ plan, /** @type {number} */ first) {
    const page = notesPage(plan, this.lessons, first, {
      onShow: (stop) => setQuery({ stop: stop ? String(stop + 1) : null }),
      onGo: (stop) => this.windows.say({ go: { id: plan.id, stop } }),
      onAnswer: () => this.windows.say({ answer: true }),
      onProjector: () =>
        void open(`?${new URLSearchParams({ tab: "learn", class: plan.id, stop: "1" })}`, "hx-projector"),
    });
    this.windows.say({ ask: true });
    return page;
  }

  /** @param {ClassPlan} plan @param {number} stop @param {Stop} found */
  _stop(plan, stop, found) {
    this.at = { id: plan.id, stop };
    this._here();
    if (found.what === "card") this._put(cardPage(found, plan.parts[found.part].title, (by) => void this.move(by)));
  }

  _here() {
    if (this.at) this.windows.say({ at: this.at, seen: !document.hidden });
  }

  _hear(/** @type {any} */ message) {
    if (message.at && this.page?.heard) this.page.heard(message.at.stop);
    else if (!this.at)
      return; // of the notes, to the projector
    else if (message.ask) this._here();
    else if (message.go?.id === this.at.id) this.to(message.go);
    else if (message.answer) this.ctx.answer();
  }
}

// A task, or a question for the room, as large as the window.

/** @param {CardStop} stop @param {string} title of the part @param {(direction: 1|-1) => void} onGo */
function cardPage(stop, title, onGo) {
  const heading = h("h1", { tabindex: "-1", text: CLASS.cardHead[stop.kind] });
  const button = (/** @type {string} */ text, /** @type {1|-1} */ to) =>
    h("button.hx-quiet", { text, onclick: () => onGo(to) });
  const el = h("section.hx-class-card", [
    h("p.hx-lesson-kicker", title),
    heading,
    h("p.hx-class-text", rich(stop.text)),
    stop.open && h("a.hx-quiet", { href: `?${stop.open}`, target: "_blank", rel: "noopener", text: CLASS.openTask }),
    h("footer.hx-class-foot", [button(CLASS.previous, -1), button(CLASS.next, 1)]),
  ]);
  el.addEventListener("keydown", (event) => {
    const by = /** @type {1|-1|undefined} */ ({ ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }[event.key]);
    if (!by || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    onGo(by);
  });
  return { el, title: heading };
}
