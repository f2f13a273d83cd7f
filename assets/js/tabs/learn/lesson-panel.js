/** The lesson that is open: one picture and a few sentences, as wide as the window; or, once a step asks nothing
 *  any more, a panel beside Explore. Arrow keys and PageUp/PageDown go from step to step, Escape goes back. */

import { faceButton, h, tips, icon, say } from "../../shared/kit/dom.js";
import { onPresenting, presenting, presenterButton } from "../../shared/player/presenter.js";
import { onDrawn } from "../../shared/player/within-reach.js";
import { hiddenBy, questionOf } from "./question.js";
import { answered, keep, kept } from "./progress.js";
import { fill, rich, told } from "./figures/rich.js";
import { pictureOf } from "./pictures/pictures.js";
import { WORDS } from "../../../text/en/learn.js";

/** @import {Drive} from "./acts/drive.js" @import {Answer, Lesson, Sources, Step} from "./figures/run-figures.js"
 *  @import {Library} from "./library.js" @import {Picture} from "./pictures/frame.js" */

const none = /** @type {any} */ (null); // while no lesson is open

/** The last recording that these steps open. @param {Step[]} steps @returns {string|null} */
export function recordingAt(steps) {
  return steps.map((step) => step.action?.recording).findLast(Boolean) ?? null;
}

export class Panel {
  /** @param {{drive: Drive, library: Library,
   *    after: (lesson: Lesson) => string, onPrint: () => void, onStep: (step: number, beside: boolean) => void, onClose: () => void,
   *    onMove: (direction: 1|-1) => boolean, held: () => boolean, onNext: () => void}} ctx after: what leads on from the end of a lesson; onMove:
   *    a step on or back of the class, if one is held */
  constructor(ctx) {
    this.ctx = ctx;
    /** @type {Lesson} */ this.lesson = none;
    this.step = 1;
    this.beside = false; // Explore
    this.run = new OwnRun(ctx.library);
    /** @type {Picture|null} */ this.picture = null;
    this.gathering = Promise.resolve(true);
    this.parts = createHead({
      onClose: () => ctx.onClose(),
      onPrint: () => ctx.onPrint(),
      onGo: (direction) => this.go(direction),
      onBack: () => this._act(),
    });
    this.body = h("div.hx-lesson-body", { tabindex: "0" });
    const { head, drift, foot } = this.parts;
    this.el = h("section.hx-lesson", { hidden: true }, [head, drift, this.body, foot]);
    this.el.addEventListener("keydown", (event) => this._key(event));
    // Nothing has the focus: the keys are the lesson's.
    document.addEventListener("keydown", (event) => this.lesson && event.target === document.body && this._key(event));
    tips(this.el);
    onDrawn(() => this._drift());
    onPresenting(() => this.lesson && this._draw(false));
  }

  /** Steps of the open lesson, the closing page among them. */
  get pages() {
    return this.lesson.steps.length + 1;
  }

  /** Opens a lesson at a step; beside Explore if it is answered. @param {Lesson} lesson @param {number} step @param {boolean} beside */
  async show(lesson, step, beside, { focus = true } = {}) {
    this.lesson = lesson;
    this.step = Math.min(step, this.pages);
    this.beside = beside;
    /** @type {Answer|undefined} */ this.asked = undefined; // what was answered since the step was opened
    this.el.hidden = false;
    this.ctx.drive.begin(); // what the step before was playing ends here
    keep(lesson.id, { step: this.step, ...(this.step === this.pages ? { done: true } : {}) });
    this.el.setAttribute("aria-busy", "true");
    this.gathering = this.run.gather(lesson, this._needed());
    this._draw(focus);
    if (!(await this.gathering) || lesson !== this.lesson) return;
    this._draw(focus);
    if (this._isBeside) await this._act();
    this.el.setAttribute("aria-busy", "false");
  }

  close() {
    if (this.el.hidden) return;
    this.el.hidden = true;
    this._still();
    this.lesson = none;
    document.body.classList.remove("hx-lesson-beside");
    this.ctx.drive.end();
  }

  /** @param {1|-1} direction */
  go(direction) {
    if (this.ctx.onMove(direction)) return;
    if (direction > 0 && this.step === this.pages) return this.ctx.onNext();
    const to = Math.min(this.pages, Math.max(1, this.step + direction));
    if (to !== this.step) this.ctx.onStep(to, false);
  }

  /** The step that is open; null on the closing page. */
  get page() {
    return this.lesson?.steps[this.step - 1] ?? null;
  }

  /** What was answered to the step's question; undefined while it is open. Before a room, what was answered in private stays
   *  hidden until it is asked for there. */
  get answer() {
    return presenting() ? this.asked : kept(this.lesson.id).answers?.[this.step];
  }

  get open() {
    return Boolean(this.page?.question) && this.answer === undefined;
  }

  get _isBeside() {
    return this.beside && !this.open;
  }

  /** The recordings that the step speaks of or draws, its own (or that of a step before it) first. */
  _needed() {
    const own = recordingAt(this.lesson.steps.slice(0, this.step));
    const { figure, reveal } = this.page ?? {};
    const drawn = [figure, reveal?.figure].flatMap((one) => [one?.recording, ...(one?.beside ?? [])]);
    const others = [...drawn, reveal?.action?.recording].filter((name) => name !== undefined);
    return [...new Set([...(own ? [own] : []), ...others])];
  }

  /** @param {boolean} focus @param {boolean} [fresh] whether the question was answered just now */
  _draw(focus, fresh = false) {
    const { lesson, step, answer, page } = this;
    const { ready } = this.run;
    document.body.classList.toggle("hx-lesson-beside", this._isBeside);
    this.parts.show(lesson, step, this.pages, this.ctx.after(lesson), this.ctx.held());
    this.el.setAttribute("aria-label", WORDS.label(lesson.number, lesson.title));
    this._still();
    this.picture = ready ? this._picture(fresh) : null;
    const shown = page
      ? stepOf(page, {
          goal: step === 1 ? lesson.goal : "",
          picture: this.picture?.el ?? null,
          answer,
          ready,
          beside: this._isBeside,
          sources: () => this.run.sources,
          onAnswer: (answer) => this._answer(answer),
          onExplore: () => this.ctx.onStep(this.step, !this._isBeside),
        })
      : closingOf(lesson, { onTry: () => this._try() });
    this.heading = shown.heading;
    this.body.replaceChildren(shown.el);
    this.body.scrollTop = 0;
    this.parts.unfold();
    this._drift();
    fill(this.el, this.run.sources);
    if (focus) this.heading.focus({ preventScroll: true });
  }

  /** The picture of the step, or of its answer. @param {boolean} fresh */
  _picture(fresh) {
    const { page, open } = this;
    const figure = (!open && page?.reveal?.figure) || page?.figure;
    const model = this.run.model(figure?.recording);
    if (!figure || !model) return null;
    const hides = open && page?.question ? hiddenBy(page.question) : [];
    return pictureOf({ step: page, figure, model, open, hides, fresh, sources: () => this.run.sources });
  }

  _still() {
    this.picture?.end?.();
    this.picture = null;
  }

  /** The answer of the open step, without one's own. */
  reveal() {
    if (this.lesson && this.open) void this._answer(null);
  }

  /** An answer opens the reveal, and the picture shows it. @param {Answer} answer */
  async _answer(answer) {
    const { lesson, step } = this;
    await this.gathering;
    if (lesson !== this.lesson || step !== this.step) return;
    this.asked = answer;
    answered({ lesson: lesson.id, step, answer });
    keep(lesson.id, { answers: { ...kept(lesson.id).answers, [step]: answer } });
    this._draw(false, true);
    const said = this.body.querySelector(".hx-verdict-said");
    if (said instanceof HTMLElement) said.focus({ preventScroll: true });
    if (innerWidth <= NARROW) this.body.querySelector(".hx-reveal")?.scrollIntoView({ block: "nearest" });
  }

  /** One thing to try is tried in Explore, or in another tab. */
  _try() {
    if (this.lesson.try.action?.tab || this._isBeside) return this._act();
    this.ctx.onStep(this.step, true);
  }

  /** Does to Explore what the step, and its answer, say. */
  async _act() {
    const { page, lesson, step } = this;
    this.el.setAttribute("aria-busy", "true");
    let lit = await this.ctx.drive.act(page ? page.action : lesson.try.action);
    const more = page?.reveal?.action;
    if (more && !this.open && lesson === this.lesson && step === this.step)
      lit = (await this.ctx.drive.act(more)) ?? lit;
    this.el.setAttribute("aria-busy", "false");
    this._drift();
    if (lit) this._clear(lit);
  }

  /** What is lit must not lie below the sheet. @param {HTMLElement} lit */
  _clear(lit) {
    const box = lit.getBoundingClientRect();
    const sheet = getComputedStyle(this.el).getPropertyValue("--sheet").trim() === "1";
    const [top, bottom] = [8, sheet ? this.el.getBoundingClientRect().top - 8 : innerHeight];
    if (box.top >= top && box.bottom <= bottom) return;
    const room = bottom - top;
    scrollBy({ top: box.height > room ? box.top - top : box.top - top - (room - box.height) / 2, behavior: calm() });
  }

  /** Beside Explore: whether it shows another run than the step's. */
  _drift() {
    if (!this.lesson) return;
    const own = !this._isBeside || !this.page || this.run.recordings.some((name) => this.ctx.drive.shows(name));
    if (this.parts.drift.hidden !== own) this.parts.drift.hidden = own;
  }

  _key(/** @type {KeyboardEvent} */ event) {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Escape" && this._isBeside) this.ctx.onStep(this.step, false);
    else if (event.key === "Escape") this.ctx.onClose();
    else if (event.key === "PageDown") this.go(1);
    else if (event.key === "PageUp") this.go(-1);
    else if (event.target instanceof HTMLInputElement)
      return; // there, arrows choose or move
    else if (event.key === "ArrowRight") this.go(1);
    else if (event.key === "ArrowLeft") this.go(-1);
    else return;
    event.preventDefault();
  }
}

const NARROW = 900; // px: one column

const calm = () => (matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth");

// One step of a lesson: its picture, what it says, what it asks, and, once that is answered, what it reveals and a
// way to see it in Explore.

/** @param {Step} step
 *  @param {{goal: string, picture: HTMLElement|null, answer: Answer|undefined, ready: boolean, beside: boolean,
 *    sources: () => Sources, onAnswer: (answer: Answer) => void, onExplore: () => void}} ctx goal: of
 *    the lesson, "" after its first step; ready: whether the figures are at hand; beside: whether Explore is in sight;
 *    onExplore: there, or back */
function stepOf(step, ctx) {
  const heading = h("h2.hx-step-title", { tabindex: "-1", text: step.title });
  const answered = !step.question || ctx.answer !== undefined;
  const el = h("div.hx-step", [
    ctx.goal && h("p.hx-goal", [h("b", WORDS.goal), " ", rich(ctx.goal)]),
    heading,
    ctx.picture ?? h("p.hx-sketch.hx-sketch-waits", { role: "status", text: WORDS.reading }),
    h("div.hx-step-says", [
      h("p", rich(step.text, new Set())),
      answered && step.reveal && h("p.hx-reveal", told(step.reveal)),
      explore(step, answered, ctx),
    ]),
    step.question && questionOf(step.question, ctx),
  ]);
  return { el, heading };
}

/** Explore is one press away, but not while it would answer the question.
 *  @param {Step} step @param {boolean} answered @param {{beside: boolean, onExplore: () => void}} ctx */
function explore(step, answered, { beside, onExplore }) {
  if (!step.action?.recording && !step.action?.at) return null;
  const button = h("button.hx-quiet.hx-step-explore", {
    text: beside ? WORDS.alone : WORDS.explore,
    disabled: !answered,
    onclick: onExplore,
  });
  return h("p.hx-step-do", [button, answered ? null : h("small", WORDS.exploreLater)]);
}

/** The last page of a lesson: one thing to try, and what to keep.
 *  @param {Lesson} lesson @param {{onTry: () => void}} ctx */
function closingOf(lesson, { onTry }) {
  const heading = h("h2.hx-step-title", { tabindex: "-1", text: WORDS.tryIt });
  const task = lesson.try;
  const el = h("div.hx-step", [
    heading,
    h("p", rich(task.text)),
    task.action && h("button.hx-quiet.hx-try", { text: task.button ?? "", onclick: onTry }),
    h("h2.hx-step-title", WORDS.summary),
    h("ul.hx-keep", [lesson.summary.map((line) => h("li", rich(line)))]),
    !!lesson.sources?.length && h("p.hx-sources", [h("b", WORDS.sources), " ", lesson.sources.join("; ")]),
  ]);
  return { el, heading };
}

// The run that a step speaks of, and all else that its lesson takes figures from. Figures are of that run alone:
// until it is loaded there are none, whatever Explore shows meanwhile.

class OwnRun {
  /** @param {Library} library */
  constructor(library) {
    this.library = library;
    /** @type {unknown} */ this.lesson = null;
    /** @type {string[]} */ this.recordings = []; // of the step: its own first, then those of its pictures
    /** @type {string[]|null} */ this.gathered = null; // what is at hand
  }

  /** Fetches what a step needs; whether it is still the step that is open when all is there.
   *  @param {unknown} lesson @param {string[]} recordings */
  async gather(lesson, recordings) {
    Object.assign(this, { lesson, recordings });
    await this.library.gather(lesson, recordings);
    if (this.recordings === recordings) this.gathered = recordings;
    return this.recordings === recordings;
  }

  /** Whether all is there that figures are taken from. */
  get ready() {
    return this.gathered === this.recordings && this.recordings.every((name) => this.library.recordings.has(name));
  }

  /** The run of a recording, the step's own by default; null until it is here. @param {string} [name] */
  model(name = this.recordings[0]) {
    return this.library.recordings.get(name ?? "") ?? null;
  }

  /** @returns {Sources} */
  get sources() {
    const { recordings, reports, requests } = this.library;
    return { model: this.model(), recordings, reports, requests };
  }
}

// What stands around the steps of a lesson: its title above, what leads on below.

/** @param {{onClose: () => void, onPrint: () => void, onGo: (direction: 1|-1) => void, onBack: () => void}} ctx onBack: to the lesson's run
 */
function createHead({ onClose, onPrint, onGo, onBack }) {
  /** @param {string} text @param {() => void} onclick */
  const button = (text, onclick) => h("button.hx-quiet", { text, onclick });
  const kicker = h("p.hx-lesson-kicker");
  const title = h("h1.hx-lesson-title");
  const folds = h("button.hx-icon-button.hx-lesson-fold", { "aria-expanded": "true", onclick: () => fold() }, [
    icon("down"),
  ]);
  folds.setAttribute("aria-label", WORDS.fold);
  const drift = h("p.hx-lesson-drift", { hidden: true }, [h("span", WORDS.drift), button(WORDS.goBack, onBack)]);
  const head = h("header.hx-lesson-head", [
    h("div", [kicker, title]),
    faceButton("print", WORDS.print, onPrint),
    presenterButton(),
    folds,
    faceButton("remove", WORDS.close, onClose),
  ]);
  const back = button(WORDS.back, () => onGo(-1));
  const next = h("button.hx-quiet.hx-lesson-next", { onclick: () => onGo(1) });
  const dots = h("span.hx-lesson-dots", { "aria-hidden": "true" });
  const foot = h("footer.hx-lesson-foot", [back, dots, next]);

  /** Beside Explore on a narrow window the lesson is a sheet that may be folded. */
  function fold(/** @type {boolean|undefined} */ to = undefined) {
    const folded = head.parentElement?.classList.toggle("hx-folded", to) ?? false;
    folds.setAttribute("aria-expanded", String(!folded));
    folds.setAttribute("aria-label", folded ? WORDS.unfold : WORDS.fold);
  }

  return {
    head,
    drift,
    foot,
    unfold: () => fold(false),
    /** @param {Lesson} lesson @param {number} step @param {number} pages @param {string} after what leads on from the end
     *  @param {boolean} held whether a class leads */
    show(lesson, step, pages, after, held) {
      say(kicker, WORDS.kicker(lesson.number, step, pages, lesson.minutes));
      say(title, lesson.title);
      back.toggleAttribute("disabled", step === 1 && !held);
      say(next, step < pages || held ? WORDS.next : after);
      dots.replaceChildren(
        ...Array.from({ length: pages }, (_, i) => h("i", { "data-at": i + 1 === step ? "here" : "" })),
      );
    },
  };
}
