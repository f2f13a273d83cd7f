// What the lessons name, looked up in the recordings that they open. JSON comes in: {grammar, lessons, recordings, reports};
// JSON goes out: {faults: [...], said: [...], asked: [...], stated: {...}}; asked: of each question, what it hides and what would answer it.
import { readFileSync } from "node:fs";
import { STATED } from "../../../assets/js/shared/levels/stated.js";
import { learn } from "../../../assets/js/shared/levels/kinds.js";
import { tokenOf } from "../../../assets/js/tabs/learn/acts/drive.js";
import { momentOf } from "../../../assets/js/tabs/learn/figures/run-figures.js";
import { placeOf } from "../../../assets/js/shared/anatomy/round.js";
import { recordingAt } from "../../../assets/js/tabs/learn/lesson-panel.js";
import { hiddenBy, answerOf, rightOnes } from "../../../assets/js/tabs/learn/question.js";
import { known } from "../../../assets/js/tabs/learn/acts/page-parts.js";
import { figure, holds, REFERENCE, recordingsIn, references } from "../../../assets/js/tabs/learn/figures/refs.js";
import { TraceModel } from "../../../assets/js/shared/run/trace.js";
import { counterexample } from "./verdicts.mjs";

const given = JSON.parse(readFileSync(0, "utf8"));
learn(given.grammar);
const recordings = new Map();
for (const [name, records] of Object.entries(given.recordings)) {
  const model = new TraceModel();
  model.append(records);
  recordings.set(name, model);
}
const faults = [];
const said = [];
const asked = [];

for (const lesson of given.lessons) {
  for (const name of recordingsIn(lesson)) if (!recordings.has(name)) faults.push(`${lesson.id}: no recording ${name}`);
  lesson.steps.forEach((step, i) => check(lesson, step, i));
  const last = sources(lesson, lesson.steps.length, lesson.try.action?.recording);
  act(lesson.try.action, last, `${lesson.id}: try`);
  for (const text of [lesson.try.text, ...lesson.summary]) tell(text, last, `${lesson.id}: closing`);
}
const compared = Object.fromEntries([...STATED].map(([of, texts]) => [of, [...texts]]));
console.log(JSON.stringify({ faults, said, asked, stated: compared }));

function sources(lesson, steps, recording = null) {
  const name = recording ?? recordingAt(lesson.steps.slice(0, steps));
  if (name && !recordings.has(name)) faults.push(`${lesson.id}: no recording ${name}`);
  return { model: recordings.get(name) ?? null, recordings, reports: given.reports, requests: given.requests };
}

function check(lesson, step, i) {
  const where = `${lesson.id}: steps[${i}]`;
  const own = sources(lesson, i + 1);
  act(step.action, own, where);
  for (const one of [step.figure, step.reveal?.figure]) drawn(one, own, where, step.action);
  act(
    step.reveal?.action,
    step.reveal?.action?.recording ? sources(lesson, 0, step.reveal.action.recording) : own,
    where,
  );
  const { question } = step;
  const also = step.reveal?.also ?? [];
  const texts = [step.text, question?.ask, step.reveal?.text, ...also.map((one) => one.text)];
  for (const text of texts) if (text) tell(text, own, where);
  for (const condition of step.rests_on ?? [])
    if (holds(condition, own) !== true) faults.push(`${where}: its wording rests on ${filled(condition, own)}`);
  for (const { when } of also) if (holds(when, own) === null) faults.push(`${where}: ${when} has no figure`);
  if (question) asked.push({ lesson: parseInt(lesson.id, 10), step: i + 1, ...answersOf(question, own) });
  if (question?.number && !answerOf(question.number.answer, own)) faults.push(`${where}: no answer`);
  if (question?.number) besides(question, [step.text, question.ask], own, where);
  if (!question?.choices?.length) return;
  const open = counterexample(question);
  if (open) faults.push(`${where}: ${open}`);
  const ofGain = question.choices.some((one) => /\$gain\b/.test(one.when ?? ""));
  const alone = figure(own, "gain.low")?.value === figure(own, "gain.high")?.value;
  if (ofGain && alone) faults.push(`${where}: its verdict rests on one run`);
  const right = rightOnes(question, own);
  if (right.filter(Boolean).length !== 1) faults.push(`${where}: right choices ${JSON.stringify(right)}`);
  said.push(`${where} -> ${question.choices[right.indexOf(true)]?.text}`);
}

function act(action, { model }, where) {
  for (const name of action?.light ?? []) if (!known(name)) faults.push(`${where}: no part ${name}`);
  for (const words of [action?.at, action?.play])
    if (words && (!model || momentOf(model, words) === null)) faults.push(`${where}: no moment ${words}`);
  if (action?.token && tokenOf(model, action.token) === undefined) faults.push(`${where}: no token ${action.token}`);
}

/** A figure like the one that is asked for, stated beside the question, has the estimate's right side: `given` names it. */
function besides({ number }, texts, own, where) {
  const head = (one) => one.name.split(".")[0];
  const [asked] = references(number.answer);
  const like = texts.flatMap(references).filter((one) => head(one) === head(asked) && head(one) === "per_forward");
  if (like.length && !number.given) faults.push(`${where}: states ${like[0].name} and has no given`);
  if (number.given && !answerOf(number.given, own)) faults.push(`${where}: no figure ${number.given}`);
}

/** A picture's moments, recording and stacks are there. */
function drawn(picture, own, where, action) {
  if (!picture) return;
  const model = picture.recording ? recordings.get(picture.recording) : own.model;
  if (!model) faults.push(`${where}: no recording ${picture.recording}`);
  for (const words of [picture.at, picture.to, ...(picture.between ?? [])])
    if (words && (!model || momentOf(model, words) === null)) faults.push(`${where}: no moment ${words}`);
  const at = picture.at ?? action?.at ?? "";
  const [, round] = /^round (\d+)/.exec(at) ?? [];
  if (round && ["round", "roll"].includes(picture.kind) && placeOf(model, momentOf(model, at)) !== Number(round) - 1)
    faults.push(`${where}: at ${at} another round is drawn`);
  for (const name of picture.stacks ?? []) {
    const [what, source] =
      name === "run" ? ["gain", ""] : name.startsWith("best.") ? [`${name}.low`, "bench"] : ["low", `bench:${name}`];
    if (!figure({ ...own, model }, what, source)) faults.push(`${where}: no gain of ${name}`);
  }
}

/** A condition with its figures. */
function filled(condition, own) {
  return condition.replace(REFERENCE, (all, name, source, of) => `${all} (${figure(own, name ?? of, source)?.text})`);
}

/** What a question hides, and what would answer it: figures, a count, or the stack of a plan. */
function answersOf(question, own) {
  const { number, choices = [], told_by: toldBy = [] } = question;
  const named = choices.flatMap((one) => references(one.when ?? "")).map(({ name }) => name);
  const counts = [number?.answer.slice(1) ?? "", ...named].filter((name) => /^round\.\d+\.(tokens|calls)/.test(name));
  return {
    hides: hiddenBy(question),
    figures: figuresOf([number?.answer ?? "", ...choices.map((one) => one.when ?? ""), ...toldBy], own),
    count: counts.length ? figure(own, counts[0])?.text : null,
    stacks: named.some((name) => name.startsWith("plan.")) ? stackOf(figure(own, "plan.last.stack")) : [],
  };
}

/** A stack by its code and by its name. */
function stackOf(found) {
  return [String(found.value), found.text];
}

/** Figures that nobody could mean by something else: counts of one digit are looked for by what is said beside them. */
function figuresOf(texts, own) {
  const named = texts.flatMap(references).filter(({ name }) => !name.startsWith("plan."));
  const found = named.map(({ source, name }) => figure(own, name, source)?.text ?? "");
  return [...new Set(found.filter((text) => /\d[.,]\d|\d\d/.test(text) && !/,target|\d to \d/.test(text)))];
}

function tell(text, own, where) {
  const filled = text.replace(REFERENCE, (all, name, source, of) => {
    const found = figure(own, name ?? of, source);
    if (!found) faults.push(`${where}: ${all} has no figure`);
    return found?.text ?? "?";
  });
  said.push(`${where}: ${filled}`);
}
