/** The sheet on paper: the questions of all lessons, or one lesson with its pictures, with room to write; and behind them the
 *  answers, their figures taken from the recordings as on the page. */

import { h, say } from "../../shared/kit/dom.js";
import { stackName } from "../../shared/levels/stack-names.js";
import { hiddenBy, answerOf, rightOnes } from "./question.js";
import { recordingAt } from "./lesson-panel.js";
import { pictureOf } from "./pictures/pictures.js";
import { fill, rich, told } from "./figures/rich.js";
import { translated } from "../../../text/heard.js";
import { WORDS } from "../../../text/en/learn.js";

/** @import {Lesson, Question, Sources, Step} from "./figures/run-figures.js" @import {Library} from "./library.js"
 *  @import {Picture} from "./pictures/frame.js" */

const LETTERS = "abcdefgh";

export class Sheet {
  /** @param {{library: Library, onBack: () => void}} ctx */
  constructor(ctx) {
    this.ctx = ctx;
    this.said = h("p.hx-sheet-said", { role: "status" });
    this.print = h("button.hx-go", { text: WORDS.sheetPrint, disabled: true, onclick: () => print() });
    this.back = h("button.hx-quiet", { onclick: () => ctx.onBack() });
    this.paper = h("article.hx-paper");
    this.shown = ""; // the lessons that are on it
    /** @type {Picture[]} */ this.pictures = [];
    this.el = h("div.hx-sheet-page", { hidden: true }, [
      h("div.hx-sheet-do", [this.back, this.print, this.said]),
      this.paper,
    ]);
  }

  /** All lessons, or one. @param {Lesson[]} lessons @param {Lesson|null} [alone] the one */
  async show(lessons, alone = null) {
    this.el.hidden = false;
    say(this.back, alone ? WORDS.sheetBackTo(alone.number) : WORDS.sheetBack);
    const those = alone ? [alone] : lessons;
    const asked = those.map(({ id }) => id).join();
    if (asked === this.shown) return;
    this.shown = asked;
    for (const { end } of this.pictures.splice(0)) end?.();
    this.paper.replaceChildren();
    this.print.toggleAttribute("disabled", true);
    say(this.said, WORDS.sheetMaking);
    const { library } = this.ctx;
    await Promise.all(those.map((one) => library.gather(one, one.steps.flatMap(recordingsOf))));
    if (asked !== this.shown) return; // another one was asked for meanwhile
    const first = alone ? handout(alone, library, this.pictures) : questions(lessons, library);
    this.paper.replaceChildren(first, answers(those, library));
    say(this.said, "");
    this.print.toggleAttribute("disabled", false);
  }
}

/** The recordings that a step opens or draws. @param {Step} step */
const recordingsOf = ({ action, figure, reveal }) =>
  [action?.recording, figure?.recording, reveal?.figure?.recording].filter((name) => name !== undefined);

const asking = (/** @type {Lesson} */ lesson) =>
  lesson.steps.flatMap((step) => (step.question ? { step, question: step.question } : []));
/** Every question by its number on paper: lesson, then which of it. @param {Lesson} lesson */
const numbered = (lesson) => asking(lesson).map((one, i) => ({ ...one, name: `${lesson.number}.${i + 1}` }));

/** What stands at the head of a sheet. @param {string} title @param {string} lead */
function headOf(title, lead) {
  const line = (/** @type {string} */ label) => h("span.hx-paper-line", label);
  return h("header.hx-paper-head", [
    h("h1", title),
    h("p", lead),
    h("p.hx-paper-who", [line(WORDS.sheetName), line(WORDS.sheetDate)]),
  ]);
}

function questions(/** @type {Lesson[]} */ lessons, /** @type {Library} */ library) {
  return h("section.hx-paper-part", [
    headOf(WORDS.sheetTitleOf(lessons.length), WORDS.sheetLead),
    lessons.map((lesson) =>
      h("section.hx-paper-lesson", [
        h("h2", `${lesson.number}  ${lesson.title}`),
        h("p.hx-paper-goal", lesson.goal),
        numbered(lesson).map(({ step, question, name }) =>
          asked(question, name, sourcesOf(lesson, step, library), step.text),
        ),
      ]),
    ),
  ]);
}

/** A lesson as it is before anything is answered. @param {Picture[]} pictures those that are made */
function handout(/** @type {Lesson} */ lesson, /** @type {Library} */ library, pictures) {
  const names = new Map(numbered(lesson).map(({ step, name }) => [step, name]));
  const steps = lesson.steps.map((step) => {
    const { figure, question } = step;
    const sources = sourcesOf(lesson, step, library);
    const model = figure ? (library.recordings.get(figure.recording ?? "") ?? sources.model) : null;
    const hides = question ? hiddenBy(question) : [];
    const picture =
      figure && model
        ? pictureOf({ step, figure, model, open: Boolean(question), hides, fresh: false, sources: () => sources })
        : null;
    if (picture) pictures.push(picture);
    const el = h("section.hx-paper-step", [
      h("h2", step.title),
      h("p", rich(step.text)),
      picture?.el,
      question && asked(question, names.get(step), sources),
    ]);
    fill(el, sources);
    return el;
  });
  return h("section.hx-paper-part.hx-paper-alone", [
    headOf(WORDS.label(lesson.number, lesson.title), lesson.goal),
    steps,
  ]);
}

/** A question with room to write. @param {Question} question @param {string|undefined} name @param {Sources} sources @param {string} [text] before it */
function asked(question, name, sources, text = "") {
  const el = h("div.hx-paper-question", [
    text && h("p.hx-paper-text", rich(text)),
    h("p", [h("b", name), " ", rich(question.ask)]),
    question.number
      ? h("p.hx-paper-number", [h("i"), question.number.unit])
      : h("ul.hx-paper-choices", [
          (question.choices ?? []).map((one, i) => h("li", [h("i"), h("span", [`${LETTERS[i]}  `, rich(one.text)])])),
        ]),
    h("div.hx-paper-room", { "aria-hidden": "true" }),
  ]);
  fill(el, sources);
  return el;
}

function answers(/** @type {Lesson[]} */ lessons, /** @type {Library} */ library) {
  const parts = lessons.map((lesson) =>
    h("section.hx-paper-lesson", [
      h("h2", `${lesson.number}  ${lesson.title}`),
      numbered(lesson).map(({ step, question, name }) =>
        answered(question, step.reveal, name, sourcesOf(lesson, step, library)),
      ),
      h("ul.hx-paper-keep", [lesson.summary.map((line) => filled(h("li", rich(line)), lesson, library))]),
    ]),
  );
  const machines = [...library.recordings.values()].map((model) => model.header?.machine).filter(Boolean);
  return h("section.hx-paper-part.hx-paper-answers", [
    h("h1", WORDS.sheetAnswers),
    h("p", WORDS.sheetAnswersLead([...new Set(machines)].join("; "))),
    parts,
  ]);
}

/** @param {Lesson} lesson @param {Step} step @param {Library} library */
function sourcesOf(lesson, step, { recordings, reports, requests }) {
  const name = recordingAt(lesson.steps.slice(0, lesson.steps.indexOf(step) + 1));
  return { model: recordings.get(name ?? "") ?? null, recordings, reports, requests };
}

/** A line of the summary speaks of the lesson's last run. */
function filled(/** @type {HTMLElement} */ el, /** @type {Lesson} */ lesson, /** @type {Library} */ library) {
  fill(el, sourcesOf(lesson, lesson.steps[lesson.steps.length - 1], library));
  return el;
}

/** @param {Question} question @param {Step["reveal"]} reveal @param {string} name @param {Sources} sources */
function answered(question, reveal, name, sources) {
  const right = question.number
    ? [answerOf(question.number.answer, sources)?.text ?? "\u2013", question.number.unit ?? ""]
        .filter(unlessSaid)
        .join(" ")
    : rightOnes(question, sources)
        .flatMap((one, i) => (one ? [LETTERS[i]] : []))
        .join(", ") || "\u2013";
  const run = sources.model?.header;
  const el = h("div.hx-paper-answer", [
    h("p", [
      h("b", name),
      " ",
      h("b.hx-paper-right", right),
      " ",
      reveal ? told(reveal) : [],
      run &&
        h("span.hx-paper-run", [
          ` ${WORDS.sheetRun(translated(run.title), stackName(run.stack))} `,
          h("code", run.stack),
        ]),
    ]),
  ]);
  fill(el, sources);
  return el;
}

/** A unit stands once: figures such as "63 ms" bring their own. @param {string} part @param {number} i */
const unlessSaid = (part, i, /** @type {string[]} */ [figure]) => part && (i === 0 || !/\p{L}|%/u.test(figure));
