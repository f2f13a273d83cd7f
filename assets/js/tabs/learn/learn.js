/** The Learn tab: the list of lessons, a lesson by itself or beside Explore, the sheet for paper. `mount` is called once by its
 *  component. */

import { stageHere } from "../../shared/player/within-reach.js";
import { h, say } from "../../shared/kit/dom.js";
import { loadStyles } from "../../shared/kit/styles.js";
import { isOpen, onTabs, setQuery } from "../../shared/kit/tabs.js";
import { rememberTheme } from "../../shared/kit/theme.js";
import { Drive } from "./acts/drive.js";
import { ClassRoom } from "./class/class-room.js";
import { asked as fetched, LESSONS, Library } from "./library.js";
import { Light } from "./acts/page-parts.js";
import { List } from "./list.js";
import { Panel } from "./lesson-panel.js";
import { Sheet } from "./sheet.js";
import { bringLater } from "../../systems/index.js";
import { CLASS } from "../../../text/en/class.js";
import { WORDS } from "../../../text/en/learn.js";

/** @import {Reach} from "../../shared/player/within-reach.js" @import {Lesson} from "./figures/run-figures.js" */

/** @param {HTMLElement} root */
export async function mount(root) {
  rememberTheme();
  await Promise.all([loadStyles("learn", "lesson", "beside", "pictures", "sheet", "class"), bringLater("learn")]);
  const stage = await stageHere;
  const page = new LearnPage(root.querySelector(".hx-root") ?? root, stage);
  await page.begin();
}

class LearnPage {
  constructor(/** @type {Element} */ root, /** @type {Reach} */ stage) {
    /** @type {Lesson[]} */ this.lessons = [];
    /** @type {Promise<void>} */ this.onPaper = Promise.resolve(); // the sheet is written
    /** @type {boolean|undefined} */ this.open = undefined; // this tab; undefined: the lessons are not here yet
    this.library = new Library();
    this.list = new List({
      onOpen: (lesson, step) => this.go({ ...NOWHERE, lesson, step }),
      onSheet: () => this.go({ ...NOWHERE, sheet: true }),
      onClass: (id) => this.go({ ...NOWHERE, class: id }),
    });
    this.classes = new ClassRoom({
      go: (place) => this.go({ ...NOWHERE, ...place }),
      answer: () => this.panel.reveal(),
    });
    this.sheet = new Sheet({
      library: this.library,
      onBack: () => this.go({ ...NOWHERE, lesson: asked().lesson, step: asked().step }),
    });
    this.panel = new Panel({
      drive: new Drive(stage, new Light(stage.el)),
      library: this.library,
      after: (lesson) => (this.after(lesson) ? WORDS.another(this.after(lesson).number) : WORDS.all),
      onPrint: () => void this.print(),
      onStep: (step, beside) => this.go({ ...this.place, lesson: this.panel.lesson.number, step, beside }),
      onMove: (direction) => this.classes.move(direction),
      held: () => this.classes.at !== null,
      onClose: () => this.go(NOWHERE),
      onNext: () => this.go({ ...NOWHERE, lesson: this.after(this.panel.lesson)?.number ?? null }),
    });
    this.el = h("div.hx-stage.hx-learn", [this.list.el, this.sheet.el, this.classes.el, this.panel.el]);
    root.replaceChildren(this.el);
    addEventListener("popstate", () => this.show());
    onTabs(() => this.tab());
  }

  async begin() {
    try {
      const { lessons, classes } = await fetched(LESSONS);
      this.lessons = lessons.map((/** @type {Lesson} */ one, /** @type {number} */ i) => ({
        ...one,
        number: parseInt(one.id, 10) || i + 1,
      }));
      this.classes.learn(classes, this.lessons);
    } catch {
      say(this.list.note, WORDS.failed);
      return;
    }
    this.open = false;
    this.tab();
  }

  /** Whether this tab is the open one: a lesson that is left takes its light and its place in the address along. */
  tab() {
    const open = isOpen("learn");
    if (open === this.open) return;
    this.open = open;
    if (open) return this.show();
    if (this.classes.at) return this.leave(); // a stop of a class
    go(NOWHERE, { push: false });
    this.leave();
  }

  /** @param {Place} place */
  go(place) {
    go(place);
    this.show();
  }

  /** Leads to the open lesson on paper, and prints it. */
  async print() {
    const { number } = this.panel.lesson;
    this.go({ ...NOWHERE, lesson: number, step: this.panel.step, sheet: true });
    await this.onPaper;
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))); // pictures are as wide as the paper
    if (asked().sheet && asked().lesson === number) print();
  }

  /** In a class a step is one of its stops: where the address says, and nowhere else. @returns {Place} */
  get place() {
    const { class: id, stop } = asked();
    return { ...NOWHERE, class: id, stop };
  }

  /** Shows what the address asks for. */
  show() {
    if (!this.open || !this.lessons.length) return;
    const { lesson: number, step, beside, sheet, ...room } = asked();
    const plan = room.class === null ? null : this.classes.plan(room.class);
    if (!plan) this.classes.end();
    else if (this.classes.show(plan, { ...room, lesson: number })) return;
    const lesson = number === null ? null : this.lessons.find((one) => one.number === number);
    const was = this.panel.lesson;
    document.body.classList.toggle("hx-lesson-open", Boolean(lesson) && !sheet);
    const paper = sheet || Boolean(plan && room.stop === null && !room.notes && !lesson);
    document.body.classList.toggle("hx-sheet-open", paper);
    this.list.el.hidden = Boolean(lesson || plan) || sheet;
    this.sheet.el.hidden = !sheet;
    if (lesson && !sheet) return void this.panel.show(lesson, step, beside);
    this.panel.close();
    if (sheet) return void (this.onPaper = this.sheet.show(this.lessons, lesson));
    if (plan) return;
    const missing = room.class === null ? (number === null ? "" : WORDS.unknown(number)) : CLASS.unknown(room.class);
    this.list.show(this.lessons, missing, this.classes.plans);
    if (was) this.list.title.focus({ preventScroll: true });
  }

  leave() {
    document.body.classList.remove("hx-lesson-open", "hx-sheet-open");
    if (!this.classes.at) this.classes.end();
    this.panel.close();
  }

  after(/** @type {Lesson} */ lesson) {
    return this.lessons[this.lessons.indexOf(lesson) + 1] ?? null;
  }
}

// Where one is in the Learn tab, in the address: `?tab=learn&lesson=3&step=2`, with `beside=1` next to Explore,
// `&sheet=1`, or `&class=45`: its plan, with `notes=1` the instructor's notes, with `stop=4` what the projector
// shows.

/** @typedef {{lesson: number|null, step: number, beside: boolean, sheet: boolean, class: string|null, stop: number|null,
 *    notes: boolean}} Place class: by its id; stop: counted from 0, from 1 in the address */

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
