/** The sheet on paper: the questions of all lessons with room to write, and behind them the answers, their figures taken
 *  from the recordings as on the page. */

import { h, say } from "../../shared/kit/dom.js";
import { stackName } from "../../shared/levels/stack-names.js";
import { recordingAt } from "./lesson-panel.js";
import { answerOf, rightOnes } from "./question.js";
import { fill, rich, told } from "./figures/rich.js";
import { WORDS } from "./words/learn.js";

const LETTERS = "abcdefgh";

export class Sheet {
  /** @param {{library: import("./library.js").Library, onBack: () => void}} ctx */
  constructor(ctx) {
    this.ctx = ctx;
    this.said = h("p", { class: "hx-sheet-said", role: "status" });
    this.print = h("button", {
      type: "button",
      class: "hx-go",
      text: WORDS.sheetPrint,
      disabled: true,
      onclick: () => print(),
    });
    this.paper = h("article", { class: "hx-paper" });
    this.el = h(
      "div",
      { class: "hx-sheet-page", hidden: true },
      h(
        "div",
        { class: "hx-sheet-do" },
        h("button", { type: "button", class: "hx-quiet", text: WORDS.sheetBack, onclick: () => ctx.onBack() }),
        this.print,
        this.said,
      ),
      this.paper,
    );
  }

  /** @param {any[]} lessons */
  async show(lessons) {
    this.el.hidden = false;
    if (this.paper.childElementCount) return;
    say(this.said, WORDS.sheetMaking);
    const { library } = this.ctx;
    await Promise.all(
      lessons.map((one) =>
        library.gather(
          one,
          one.steps.flatMap((s) => s.action?.recording ?? []),
        ),
      ),
    );
    this.paper.replaceChildren(questions(lessons, library), answers(lessons, library));
    say(this.said, "");
    this.print.toggleAttribute("disabled", false);
  }
}

const asking = (lesson) => lesson.steps.filter((step) => step.question);
/** Every question by its number on paper: lesson, then which of it. */
const numbered = (lesson) => asking(lesson).map((step, i) => ({ step, name: `${lesson.number}.${i + 1}` }));

function questions(lessons, library) {
  const line = (label) => h("span", { class: "hx-paper-line" }, label);
  return h(
    "section",
    { class: "hx-paper-part" },
    h(
      "header",
      { class: "hx-paper-head" },
      h("h1", { text: WORDS.sheetTitleOf(lessons.length) }),
      h("p", { text: WORDS.sheetLead }),
      h("p", { class: "hx-paper-who" }, line(WORDS.sheetName), line(WORDS.sheetDate)),
    ),
    ...lessons.map((lesson) =>
      h(
        "section",
        { class: "hx-paper-lesson" },
        h("h2", { text: `${lesson.number}  ${lesson.title}` }),
        h("p", { class: "hx-paper-goal", text: lesson.goal }),
        ...numbered(lesson).map(({ step, name }) => asked(step, name, sourcesOf(lesson, step, library))),
      ),
    ),
  );
}

function asked({ text, question }, name, sources) {
  const el = h(
    "div",
    { class: "hx-paper-question" },
    h("p", { class: "hx-paper-text" }, ...rich(text)),
    h("p", {}, h("b", { text: name }), " ", ...rich(question.ask)),
    question.number
      ? h("p", { class: "hx-paper-number" }, h("i", {}), question.number.unit)
      : h(
          "ul",
          { class: "hx-paper-choices" },
          ...question.choices.map((one, i) =>
            h("li", {}, h("i", {}), h("span", {}, `${LETTERS[i]}  `, ...rich(one.text))),
          ),
        ),
    h("div", { class: "hx-paper-room", "aria-hidden": "true" }),
  );
  fill(el, sources);
  return el;
}

function answers(lessons, library) {
  const parts = lessons.map((lesson) =>
    h(
      "section",
      { class: "hx-paper-lesson" },
      h("h2", { text: `${lesson.number}  ${lesson.title}` }),
      ...numbered(lesson).map(({ step, name }) => answered(step, name, sourcesOf(lesson, step, library))),
      h(
        "ul",
        { class: "hx-paper-keep" },
        ...lesson.summary.map((line) => filled(h("li", {}, ...rich(line)), lesson, library)),
      ),
    ),
  );
  const machines = [...library.recordings.values()].map((model) => model.header?.machine).filter(Boolean);
  return h(
    "section",
    { class: "hx-paper-part hx-paper-answers" },
    h("h1", { text: WORDS.sheetAnswers }),
    h("p", { text: WORDS.sheetAnswersLead([...new Set(machines)].join("; ")) }),
    ...parts,
  );
}

function sourcesOf(lesson, step, { recordings, reports }) {
  const name = recordingAt(lesson.steps.slice(0, lesson.steps.indexOf(step) + 1));
  return { model: recordings.get(name ?? "") ?? null, recordings, reports };
}

/** A line of the summary speaks of the lesson's last run. */
function filled(el, lesson, library) {
  fill(el, sourcesOf(lesson, lesson.steps.at(-1), library));
  return el;
}

function answered({ question, reveal }, name, sources) {
  const right = question.number
    ? [answerOf(question.number.answer, sources)?.text ?? "\u2013", question.number.unit].filter(unlessSaid).join(" ")
    : rightOnes(question, sources)
        .flatMap((one, i) => (one ? [LETTERS[i]] : []))
        .join(", ") || "\u2013";
  const run = sources.model?.header;
  const el = h(
    "div",
    { class: "hx-paper-answer" },
    h(
      "p",
      {},
      h("b", { text: name }),
      " ",
      h("b", { class: "hx-paper-right", text: right }),
      " ",
      ...told(reveal),
      run
        ? h(
            "span",
            { class: "hx-paper-run" },
            ` ${WORDS.sheetRun(run.title, stackName(run.stack))} `,
            h("code", { text: run.stack }),
          )
        : null,
    ),
  );
  fill(el, sources);
  return el;
}

/** A unit stands once: figures such as "63 ms" bring their own. */
const unlessSaid = (part, i, /** @type {any[]} */ [figure]) => part && (i === 0 || !/\p{L}|%/u.test(figure));
