/** The lesson that is open: a panel beside the first screen, a sheet at the bottom of a narrow window. Arrow keys and
 *  PageUp/PageDown go from step to step while it has the focus, Escape closes it. */

import { h, icon, say, tips } from "../kit/dom.js";
import { onPresenting, presenting } from "../stage/title/presenter.js";
import { onDrawn } from "../stage/within-reach.js";
import { hiddenBy } from "./acts/veil.js";
import { keep, kept } from "./progress.js";
import { OwnRun } from "./own-run.js";
import { fill } from "./rich.js";
import { closingOf, stepOf } from "./step.js";
import { WORDS } from "../words/tabs/learn.js";

export class Panel {
  /**
   * @param {{drive: import("./acts/drive.js").Drive, veil: import("./acts/veil.js").Veil,
   *   library: import("./library.js").Library, feed: {model: any},
   *   after: (lesson: any) => string, onStep: (step: number) => void, onClose: () => void, onNext: () => void}} ctx
   *   after: what leads on from the end of a lesson
   */
  constructor(ctx) {
    this.ctx = ctx;
    /** @type {any} */ this.lesson = null;
    this.step = 1;
    this.run = new OwnRun({ shows: (name) => ctx.drive.shows(name), feed: ctx.feed, library: ctx.library });
    this.waits = false; // whether a verdict stands without the figures that it needs
    this.acting = Promise.resolve(); // until what a step does to the page is done
    /** @type {any} */ this.drawn = null; // what the figures were filled in from
    const button = (text, onclick) => h("button", { type: "button", class: "hx-quiet", text, onclick });
    this.kicker = h("p", { class: "hx-lesson-kicker" });
    this.title = h("h2", { class: "hx-lesson-title" });
    this.folds = h(
      "button",
      { type: "button", class: "hx-icon-button hx-lesson-fold", "aria-expanded": "true", onclick: () => this._fold() },
      icon("down"),
    );
    this.folds.setAttribute("aria-label", WORDS.fold);
    this.drift = h(
      "p",
      { class: "hx-lesson-drift", hidden: true },
      h("span", { text: WORDS.drift }),
      button(WORDS.goBack, () => this._act(this._page()?.action)),
    );
    this.body = h("div", { class: "hx-lesson-body", tabindex: "0" });
    this.back = button(WORDS.back, () => this.go(-1));
    this.next = h("button", { type: "button", class: "hx-quiet hx-lesson-next", onclick: () => this.go(1) });
    this.dots = h("span", { class: "hx-lesson-dots", "aria-hidden": "true" });
    this.el = h(
      "section",
      { class: "hx-lesson", hidden: true, onkeydown: (event) => this._key(event) },
      h(
        "header",
        { class: "hx-lesson-head" },
        h("div", {}, this.kicker, this.title),
        this.folds,
        h(
          "button",
          {
            type: "button",
            class: "hx-icon-button",
            "aria-label": WORDS.close,
            "data-tip": WORDS.close,
            onclick: () => ctx.onClose(),
          },
          icon("remove"),
        ),
      ),
      this.drift,
      this.body,
      h("footer", { class: "hx-lesson-foot" }, this.back, this.dots, this.next),
    );
    tips(this.el);
    onDrawn(() => this._drawn());
    onPresenting(() => this.lesson && this._draw(false));
  }

  /** Steps of the open lesson, the closing page among them. */
  get pages() {
    return this.lesson.steps.length + 1;
  }

  /** Opens a lesson at a step, and does to the page what the step says. @param {any} lesson @param {number} step */
  async show(lesson, step, { focus = true } = {}) {
    this.lesson = lesson;
    this.step = Math.min(step, this.pages);
    /** @type {any} */ this.asked = undefined; // what was answered since the step was opened
    this.el.hidden = false;
    this.ctx.drive.begin(); // what the step before was playing ends here
    keep(lesson.id, { step: this.step, ...(this.step === this.pages ? { done: true } : {}) });
    this._draw(focus);
    void this.run.gather(lesson).then(() => this._fill());
    await this._act(this._page()?.action);
  }

  close() {
    if (this.el.hidden) return;
    this.el.hidden = true;
    this.lesson = null;
    this.ctx.drive.end();
  }

  /** @param {1|-1} direction */
  go(direction) {
    if (direction > 0 && this.step === this.pages) return this.ctx.onNext();
    const to = Math.min(this.pages, Math.max(1, this.step + direction));
    if (to !== this.step) this.ctx.onStep(to);
  }

  /** The step that is open; null on the closing page. */
  _page() {
    return this.lesson?.steps[this.step - 1] ?? null;
  }

  /** The recording that the step speaks of: its own, or that of a step before it. @returns {string|null} */
  get recording() {
    const steps = this.lesson?.steps.slice(0, this.step) ?? [];
    return recordingAt(steps);
  }

  /** What was answered to the step's question; undefined while it is open. Before a room, what was answered in private stays
   *  hidden until it is asked for there. */
  get answer() {
    return presenting() ? this.asked : kept(this.lesson.id).answers?.[this.step];
  }

  _draw(focus) {
    const { lesson, step, answer } = this;
    const page = this._page();
    this.run.take(this.recording);
    const ready = this.run.ready(lesson);
    this.waits = answer !== undefined && !ready;
    this.ctx.veil.over(page?.question && answer === undefined ? hiddenBy(page.question) : null);
    say(this.kicker, WORDS.kicker(lesson.number, step, this.pages, lesson.minutes));
    say(this.title, lesson.title);
    this.el.setAttribute("aria-label", WORDS.label(lesson.number, lesson.title));
    const shown = page
      ? stepOf(page, {
          goal: step === 1 ? lesson.goal : "",
          answer,
          ready,
          sources: () => this.run.sources,
          onAnswer: (answer) => this._answer(answer),
          onAgain: () => this._act(page.reveal.action),
        })
      : closingOf(lesson, { onTry: () => this._act(lesson.try.action) });
    this.heading = shown.heading;
    this.body.replaceChildren(shown.el);
    this.body.scrollTop = 0;
    this.back.toggleAttribute("disabled", step === 1);
    say(this.next, step < this.pages ? WORDS.next : this.ctx.after(lesson));
    this.dots.replaceChildren(
      ...Array.from({ length: this.pages }, (_, i) => h("i", { "data-at": i + 1 === step ? "here" : "" })),
    );
    this._unfold();
    this._fill();
    if (focus) this.heading.focus({ preventScroll: true });
  }

  /** An answer opens the reveal, and the page shows it. */
  async _answer(answer) {
    const { lesson, step } = this;
    await Promise.all([this.run.gather(lesson), this.acting]);
    if (lesson !== this.lesson || step !== this.step) return;
    this.asked = answer;
    keep(lesson.id, { answers: { ...kept(lesson.id).answers, [step]: answer } });
    const { scrollTop } = this.body;
    this._draw(false);
    this.body.scrollTop = scrollTop;
    const said = this.body.querySelector(".hx-verdict-said");
    if (said instanceof HTMLElement) said.focus({ preventScroll: true });
    this.body.querySelector(".hx-reveal")?.scrollIntoView({ block: "nearest" });
    await this._act(this._page()?.reveal?.action);
  }

  async _act(action) {
    this.el.setAttribute("aria-busy", "true");
    const acting = this.ctx.drive.act(action ?? {});
    this.acting = acting.then(
      () => {},
      () => {},
    );
    const lit = await acting;
    this.el.setAttribute("aria-busy", "false");
    this._drawn();
    if (lit) this._clear(lit);
  }

  /** What is lit must not lie below the sheet. */
  _clear(lit) {
    const box = lit.getBoundingClientRect();
    const sheet = getComputedStyle(this.el).getPropertyValue("--sheet").trim() === "1";
    const [top, bottom] = [8, sheet ? this.el.getBoundingClientRect().top - 8 : innerHeight];
    if (box.top >= top && box.bottom <= bottom) return;
    const room = bottom - top;
    scrollBy({ top: box.height > room ? box.top - top : box.top - top - (room - box.height) / 2, behavior: calm() });
  }

  /** After each drawing of the page: whose run it shows, and the figures if that has changed. */
  _drawn() {
    if (!this.lesson) return;
    const page = this._page();
    const revealed = this.answer === undefined ? null : page?.reveal?.action?.recording;
    const own = this.run.take(this.recording) || Boolean(revealed && this.ctx.drive.shows(revealed));
    const told = own || !page || !this.run.model; // at the end one tries runs of one's own
    if (this.drift.hidden !== told) this.drift.hidden = told;
    if (this.run.key !== this.drawn) this._fill();
  }

  _fill() {
    this.drawn = this.run.key;
    if (!this.lesson) return;
    if (this.waits && this.run.ready(this.lesson)) this._draw(false);
    else fill(this.el, this.run.sources);
  }

  _fold() {
    const folded = this.el.classList.toggle("hx-folded");
    this.folds.setAttribute("aria-expanded", String(!folded));
    this.folds.setAttribute("aria-label", folded ? WORDS.unfold : WORDS.fold);
  }

  _unfold() {
    if (this.el.classList.contains("hx-folded")) this._fold();
  }

  _key(event) {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Escape") this.ctx.onClose();
    else if (event.key === "PageDown") this.go(1);
    else if (event.key === "PageUp") this.go(-1);
    else if (event.target instanceof HTMLInputElement)
      return; // there, arrows choose or move in the text
    else if (event.key === "ArrowRight") this.go(1);
    else if (event.key === "ArrowLeft") this.go(-1);
    else return;
    event.preventDefault();
  }
}

/** The last recording that these steps open. @param {any[]} steps @returns {string|null} */
export function recordingAt(steps) {
  return steps.map((step) => step.action?.recording).findLast(Boolean) ?? null;
}

const calm = () => (matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth");
