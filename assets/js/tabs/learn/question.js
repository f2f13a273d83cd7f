/** A prediction: choices or a figure to estimate, and what it hides. Until one commits to an answer, or asks to be
 *  shown, what it reveals is not on the page at all. */

import { h } from "../../shared/kit/dom.js";
import { figure, holds, references, isBench } from "./figures/refs.js";
import { rich } from "./figures/rich.js";
import { WORDS } from "../../../text/en/learn.js";

/** @import {Figure} from "./figures/refs.js"
 *  @import {Answer, Estimate, Question, Sources} from "./figures/run-figures.js" */

let made = 0; // groups of choices, each with a name of its own

/** @typedef {{answer: Answer|undefined, ready: boolean, sources: () => Sources, onAnswer: (answer: Answer) => void}} Context answer: given
 *    before; ready: whether the figures are at hand that a verdict needs */

/** @param {Question} question @param {Context} ctx */
export function questionOf(question, ctx) {
  const ask = h("legend", rich(question.ask));
  const given = ctx.answer !== undefined;
  const form = h("form.hx-question", { onsubmit: (event) => event.preventDefault() });
  const fields = h("fieldset", ask);
  form.append(fields);
  if (given) {
    if (!question.number) fields.append(choicesGiven(question, ctx));
    form.append(ctx.ready ? verdict(question, ctx) : saying(WORDS.reading, "waits"));
    return form;
  }
  const input = question.number ? estimate(question.number) : choices(question);
  const commit = h("button.hx-quiet.hx-commit", { type: "submit", text: WORDS.commit, disabled: true });
  const give = h("button.hx-quiet", { text: WORDS.give, onclick: () => ctx.onAnswer(null) });
  input.el.addEventListener("input", () => (commit.disabled = input.value() === null));
  form.addEventListener("submit", () => {
    const value = input.value();
    if (value !== null) ctx.onAnswer(value);
  });
  fields.append(input.el);
  form.append(h("div.hx-question-go", [commit, give]), h("p.hx-locked", WORDS.locked));
  return form;
}

function choices(/** @type {Question} */ { choices: list = [] }) {
  const name = `hx-choice-${++made}`;
  const radios = list.map((_, i) => h("input", { type: "radio", name, value: String(i) }));
  const el = h("div.hx-choices", [list.map((one, i) => h("label.hx-choice", [radios[i], h("span", rich(one.text))]))]);
  const value = () => {
    const at = radios.findIndex((one) => one.checked);
    return at < 0 ? null : at;
  };
  return { el, value };
}

function estimate(/** @type {Estimate} */ number) {
  const input = h("input.hx-input", { inputmode: "decimal", "aria-label": WORDS.estimate, maxlength: "12" });
  const fault = h("p.hx-estimate-fault", { role: "alert", hidden: true });
  const el = h("div", [h("label.hx-estimate", [input, h("span", number.unit)]), fault]);
  const written = () => input.value.trim();
  // What is asked for is counted or measured: none of it can be below zero.
  const value = () => (/^\d+([.,]\d+)?$/.test(written()) ? Number(written().replace(",", ".")) : null);
  input.addEventListener("input", () => {
    const fits = !written() || value() !== null;
    input.setAttribute("aria-invalid", String(!fits));
    fault.hidden = fits;
    fault.textContent = fits ? "" : WORDS.noEstimate(written());
  });
  return { el, value };
}

/** Which choices are right, for what is loaded. @returns {(boolean|null)[]} */
export const rightOnes = (/** @type {Question} */ question, /** @type {Sources} */ sources) =>
  (question.choices ?? []).map((one) => (one.when ? holds(one.when, sources) : Boolean(one.right)));

function choicesGiven(/** @type {Question} */ question, /** @type {Context} */ { answer, ready, sources }) {
  const right = ready ? rightOnes(question, sources()) : [];
  const items = (question.choices ?? []).map((one, i) => {
    const marks = [right[i] ? WORDS.mark : "", answer === i ? WORDS.yours : ""].filter(Boolean).join(", ");
    return h("li.hx-choice", { "data-right": String(Boolean(right[i])), "data-yours": String(answer === i) }, [
      h("i", { "aria-hidden": "true", text: right[i] ? "\u2713" : answer === i ? "\u2717" : "" }),
      h("span", rich(one.text)),
      marks && h("small", marks),
    ]);
  });
  return h("ul.hx-choices", items);
}

/** The answer that a reference gives. @returns {Figure|null} */
export function answerOf(/** @type {string} */ reference, /** @type {Sources} */ sources) {
  const [found] = references(reference);
  return figure(sources, found?.name ?? "", found?.source);
}

/** The figure that the step states beside the one it asks for; null where it states none. */
function given(/** @type {Estimate} */ number, /** @type {Sources} */ sources) {
  const value = number.given ? answerOf(number.given, sources)?.value : null;
  return typeof value === "number" ? value : null;
}

/** Whether an estimate counts as near: within a share of the value, and on the same side of what the step states.
 *  @param {number} answer @param {number} value @param {number} [within] @param {number|null} [stated] */
export const isNear = (answer, value, within = 0.15, stated = null) =>
  Math.abs(answer - value) <= within * Math.abs(value) &&
  (stated === null || answer === value || (answer - stated) * (value - stated) > 0);

const saying = (/** @type {string} */ text, /** @type {string} */ kind) =>
  h("p.hx-verdict-said", { role: "status", tabindex: "-1", "data-kind": kind, text });

function verdict(/** @type {Question} */ question, /** @type {Context} */ { answer = null, sources }) {
  if (question.number) {
    const found = answerOf(question.number.answer, sources());
    if (!found) return saying(WORDS.missing, "none");
    const unit = question.number.unit;
    const shown = /\p{L}|%/u.test(found.text) || !unit ? found.text : `${found.text} ${unit}`;
    if (answer === null) return saying(`${WORDS.shown} ${WORDS.found(shown)}`, "shown");
    const value = Number(found.value) * (found.text.endsWith("%") ? 100 : 1);
    const near = isNear(answer, value, question.number.within, given(question.number, sources()));
    if (answer === value || answer === Number.parseFloat(found.text.replace(",", "."))) {
      return saying(`${WORDS.right} ${WORDS.found(shown)}`, "right");
    }
    return saying((near ? WORDS.near : WORDS.off)(answer, shown), near ? "right" : "off");
  }
  const right = rightOnes(question, sources());
  if (!right.includes(true)) return saying(WORDS.missing, "none");
  if (answer === null) return saying(WORDS.shown, "shown");
  return right[answer ?? -1] ? saying(WORDS.right, "right") : saying(WORDS.wrong, "off");
}

// What a question asks about, and so what no picture tells while it is open. The figures that a question names say it
// by themselves; a question names the rest in `hides`. Explore is not in sight meanwhile: it opens with the answer.

/** What tells a figure, by the head of its name. */
const TELLS = /** @type {Record<string, string>} */ ({
  speedup: "speed",
  gain: "speed",
  beside: "speed",
  tokens_per_s: "speed",
  ms_per_token: "speed",
  pass_ms: "speed",
  best: "speed",
  speed_up: "speed",
  low: "speed",
  high: "speed",
  per_forward: "per-pass",
  yields: "per-pass",
  equal: "equal",
  source: "source",
  acceptance: "acceptance",
  accepted: "acceptance",
});

/** What an open question hides. @param {Question} question @returns {string[]} */
export function hiddenBy({ number, choices = [], hides = [] }) {
  const texts = [number?.answer ?? "", ...choices.map((one) => one.when ?? "")];
  const asked = texts.flatMap(references).filter(({ source, name }) => !source || isBench(source) || name === "beside");
  const named = asked.map(({ name }) => TELLS[name.split(".")[0]]); // figures of other recordings are in no picture
  return [...new Set([...named.filter(Boolean), ...hides])];
}
