// What the lessons name, looked up in the recordings that they open. JSON comes in: {grammar, lessons, recordings, reports};
// JSON goes out: {faults: [...], said: [...]}.
import { readFileSync } from "node:fs";
import { learn } from "../../../assets/js/kinds.js";
import { momentOf } from "../../../assets/js/learn/acts/moments.js";
import { recordingAt } from "../../../assets/js/learn/panel.js";
import { known } from "../../../assets/js/learn/acts/parts.js";
import { answerOf, rightOnes } from "../../../assets/js/learn/question.js";
import { figure, REFERENCE, recordingsIn } from "../../../assets/js/learn/refs.js";
import { TraceModel } from "../../../assets/js/trace.js";

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

for (const lesson of given.lessons) {
  for (const name of recordingsIn(lesson)) if (!recordings.has(name)) faults.push(`${lesson.id}: no recording ${name}`);
  lesson.steps.forEach((step, i) => check(lesson, step, i));
  const last = sources(lesson, lesson.steps.length, lesson.try.action?.recording);
  act(lesson.try.action, last, `${lesson.id}: try`);
  for (const text of [lesson.try.text, ...lesson.summary]) tell(text, last, `${lesson.id}: closing`);
}
console.log(JSON.stringify({ faults, said }));

function sources(lesson, steps, recording = null) {
  const name = recording ?? recordingAt(lesson.steps.slice(0, steps));
  if (name && !recordings.has(name)) faults.push(`${lesson.id}: no recording ${name}`);
  return { model: recordings.get(name) ?? null, recordings, reports: given.reports };
}

function check(lesson, step, i) {
  const where = `${lesson.id}: steps[${i}]`;
  const own = sources(lesson, i + 1);
  act(step.action, own, where);
  act(
    step.reveal?.action,
    step.reveal?.action?.recording ? sources(lesson, 0, step.reveal.action.recording) : own,
    where,
  );
  const { question } = step;
  for (const text of [step.text, question?.ask, step.reveal?.text]) if (text) tell(text, own, where);
  if (question?.number && !answerOf(question.number.answer, own)) faults.push(`${where}: no answer`);
  if (!question?.choices?.length) return;
  const right = rightOnes(question, own);
  if (right.filter(Boolean).length !== 1) faults.push(`${where}: right choices ${JSON.stringify(right)}`);
  said.push(`${where} -> ${question.choices[right.indexOf(true)]?.text}`);
}

function act(action, { model }, where) {
  for (const name of action?.light ?? []) if (!known(name)) faults.push(`${where}: no part ${name}`);
  for (const words of [action?.at, action?.play])
    if (words && (!model || momentOf(model, words) === null)) faults.push(`${where}: no moment ${words}`);
  if (action?.token && model?.committed[action.token - 1] === undefined)
    faults.push(`${where}: no token ${action.token}`);
}

function tell(text, own, where) {
  const filled = text.replace(REFERENCE, (all, name, source, of) => {
    const found = figure(own, name ?? of, source);
    if (!found) faults.push(`${where}: ${all} has no figure`);
    return found?.text ?? "?";
  });
  said.push(`${where}: ${filled}`);
}
