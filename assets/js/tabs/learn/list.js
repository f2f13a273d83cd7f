/** The list of lessons, each with how far one has come; what the tab shows while no lesson is open. */

import { h, say } from "../../shared/kit/dom.js";
import { forget, kept, lastOpen } from "./progress.js";
import { CLASS } from "../../../text/en/class.js";
import { WORDS } from "../../../text/en/learn.js";

/** @import {ClassPlan} from "./class/stops.js" @import {Lesson} from "./figures/run-figures.js" */

export class List {
  /** @param {{onOpen: (number: number, step: number) => void, onSheet: () => void, onClass: (id: string) => void}} ctx */
  constructor(ctx) {
    this.ctx = ctx;
    /** @type {Lesson[]} */ this.lessons = [];
    /** @type {ClassPlan[]} */ this.plans = []; // of classes
    this.note = h("p.hx-learn-note", { role: "status" });
    this.goOn = h("button.hx-go", { hidden: true });
    this.forgets = h("button.hx-quiet", {
      text: WORDS.forget,
      onclick: () => {
        forget();
        this.show(this.lessons, WORDS.forgotten);
      },
    });
    this.items = h("ol.hx-lessons");
    this.classes = h("ul.hx-classes");
    this.teach = h("section.hx-teach", [h("h2", CLASS.title), h("p", CLASS.lead), this.classes]);
    this.title = h("h1", { tabindex: "-1", text: WORDS.title });
    this.el = h("div.hx-learn-list", [
      h("header.hx-learn-top", [
        h("div", [this.title, h("p", WORDS.lead)]),
        h("div.hx-learn-do", [
          this.goOn,
          h("button.hx-quiet", { text: WORDS.sheet, onclick: () => ctx.onSheet() }),
          this.forgets,
        ]),
      ]),
      this.note,
      this.items,
      this.teach,
    ]);
  }

  /** @param {Lesson[]} lessons @param {string} [said] @param {ClassPlan[]} [classes] */
  show(lessons, said = "", classes = this.plans) {
    this.lessons = lessons;
    this.plans = classes;
    this.teach.hidden = !classes.length;
    this.classes.replaceChildren(...classes.map((plan) => this._class(plan)));
    say(this.note, said || (lessons.length ? "" : WORDS.none));
    this.items.replaceChildren(...lessons.map((lesson) => this._item(lesson)));
    const last = lessons.find(({ id }) => id === lastOpen());
    this.goOn.hidden = !last;
    this.forgets.hidden = !last;
    if (!last) return;
    const step = kept(last.id).step ?? 1;
    say(this.goOn, WORDS.resume(last.number, step));
    this.goOn.onclick = () => this.ctx.onOpen(last.number, step);
  }

  _class(/** @type {ClassPlan} */ { id, title, goal, minutes }) {
    const link = h("a", { href: `?${new URLSearchParams({ tab: "learn", class: id })}` });
    link.append(h("span.hx-lessons-number", CLASS.minutes(minutes)), h("b", title), h("span", goal));
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.ctx.onClass(id);
    });
    return h("li", link);
  }

  _item(/** @type {Lesson} */ lesson) {
    const { step = 0, done = false } = kept(lesson.id);
    const pages = lesson.steps.length + 1;
    const reached = done ? WORDS.done : step ? WORDS.reached(step, pages) : WORDS.untouched;
    const query = new URLSearchParams({ tab: "learn", lesson: String(lesson.number) });
    return h("li", { "data-done": String(done) }, [
      h(
        "a",
        {
          href: `?${query}`,
          onclick: (event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a window of its own
            event.preventDefault();
            this.ctx.onOpen(lesson.number, 1);
          },
        },
        [
          h("span.hx-lessons-number", { text: String(lesson.number), "aria-hidden": "true" }),
          h("b", lesson.title),
          h("span.hx-lessons-goal", lesson.goal),
          h("span.hx-lessons-foot", [
            h("span", WORDS.about(lesson.minutes)),
            h("progress", { max: String(pages), value: String(done ? pages : step), "aria-hidden": "true" }),
            h("span", reached),
          ]),
        ],
      ),
    ]);
  }
}
