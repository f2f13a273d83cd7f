/** The figures of the shipped benchmarks that lessons may name, and what a stack gains: by a benchmark where one has it,
 *  by the run alone where none has. */

import { FIGURES, GAIN } from "../../../../text/en/learn.js";
import { stackNames } from "../../../shared/levels/stack-names.js";
import { ofBench, ofRun, stated } from "../../../shared/levels/stated.js";
import { as, called, rate, times, speedUp } from "./run-figures.js";

/** @import {Entry, Sources} from "./run-figures.js" */

/** @typedef {Record<string, any> & {stack: string, plain: string, speed_up: number, called?: string}} Row of a benchmark, as hsd_core/measure/bench writes it */

const PRESET = "smollm2"; // of the lessons that name no run

/** Of a row: `best.3.speed_up` of the quickest stack of three levels, or that of a stack by its name. */
/** @type {Record<string, Entry<(row: Row, other: any) => number|string>>} */
export const BENCH = {
  speed_up: [FIGURES.benchSpeedup, times, (r) => r.speed_up],
  low: [FIGURES.benchLow, times, (r) => r.interval[0]],
  high: [FIGURES.benchHigh, times, (r) => r.interval[1]],
  per_forward: [FIGURES.benchPerForward, times, (r) => r.accepted_per_pass],
  tokens_per_s: [FIGURES.benchRate, rate, (r) => r.tokens_per_s],
  stack: [FIGURES.benchStack, called, (r) => r.stack], // by its name among those of its benchmark: `rowsOf`
  machine: [FIGURES.machine, as, (r) => r.machine],
  over: [FIGURES.benchOver, times, (r, other) => r.speed_up / other.speed_up],
};

/** The rows of the benchmarks of the run's preset, those of its machine first. @param {Sources} sources @returns {Row[][]} */
function tables({ reports, model }) {
  const { preset = PRESET, machine = "" } = model?.header ?? {};
  const own = reports.map(({ results }) => results).filter(({ about }) => about.preset === preset);
  const near = own.sort((a, b) => Number(b.about.machine === machine) - Number(a.about.machine === machine));
  return near.map(({ stacks, about }) => {
    const names = stackNames(stacks.map((/** @type {Row} */ one) => one.stack));
    return stacks.map((/** @type {Row} */ one) => ({
      ...one,
      about,
      machine: about.machine,
      called: names.get(one.stack),
    }));
  });
}

const quickest = (/** @type {Row[]} */ rows) => rows.toSorted((a, b) => b.speed_up - a.speed_up)[0] ?? null;

/** A stack's row, in the first benchmark that has it. @param {Sources} sources @param {string} stack */
function named(sources, stack) {
  return tables(sources).flatMap((rows) => rows.find((one) => one.stack === stack) ?? [])[0] ?? null;
}

/** The best stack of so many levels, and of so many others, both of one benchmark. @param {Sources} sources */
function best(sources, /** @type {string} */ levels, /** @type {string} */ beside) {
  const of = (/** @type {Row[]} */ rows, /** @type {string} */ count) =>
    quickest(rows.filter((one) => one.plain === "target" && one.stack.split(",").length === Number(count)));
  for (const rows of tables(sources)) {
    const [found, other] = [of(rows, levels), of(rows, beside ?? levels)];
    if (found && other) return [found, other];
  }
  return [null, null];
}

/** The row that a reference names, and the one beside it.
 *  @param {Sources} sources @param {string} stack "" for the best @param {string[]} rest behind `best` */
export function rowsOf(sources, stack, [levels, , beside]) {
  return stack ? [named(sources, stack), null] : best(sources, levels, beside);
}

/** What the stack of the run gains over plain decoding, with the interval of the benchmark that has it. A single run has
 *  no interval: its ends are its own figure. A benchmark is greedy, so it says nothing of a sampled run.
 *  @param {Sources} sources @returns {{value: number, low: number, high: number, texts: string[], said: string, machine: string}|null}
 */
function gained(sources) {
  const { model } = sources;
  const alone = model?.header ? speedUp(model) : null;
  if (!model?.header || alone === null) return null;
  const { temperature = 0, top_k = 0 } = model.header.sampling;
  const row = temperature === 0 || top_k === 1 ? named(sources, model.header.stack) : null;
  const own = stated("speed_up", ofRun(model.header), times(alone));
  if (!row)
    return {
      ...{ value: alone, low: alone, high: alone },
      texts: [own, own, own],
      said: GAIN.alone(own),
      machine: "",
    };
  const {
    interval: [low, high],
    speed_up: value,
    machine,
  } = row;
  const told = (/** @type {string} */ what, /** @type {number} */ x) =>
    stated(what, ofBench(row.about, row.stack), times(x));
  const texts = [told("speed_up", value), told("low", low), told("high", high)];
  const figures = { gain: texts[0], low: texts[1], high: texts[2], alone: own };
  return { value, low, high, texts, machine, said: GAIN.shipped({ ...figures, machine }) };
}

/** `gain`, `gain.low`, `gain.high` and `gain.said`. @param {Sources} sources @param {string} [what] */
export function gain(sources, what = "value") {
  const found = gained(sources);
  const value = found?.[/** @type {"value"} */ (what)] ?? null;
  if (value === null) return null;
  const text = found?.texts[["value", "low", "high"].indexOf(what)] ?? String(value);
  return { value, text, tip: `${GAIN.tip}; ${found?.machine ? FIGURES.shipped(found.machine) : FIGURES.shown}` };
}
