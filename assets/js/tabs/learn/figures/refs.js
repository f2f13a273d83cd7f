/** The figures that a lesson names: `$speedup` is the shown run's, `${08-loses|speedup}` that of a recording, and
 *  `${bench|best.3.speed_up}` a shipped result's. Each is a function of a model, so that none is written into a lesson. */

import { ofBench, ofRun, stated } from "../../../shared/levels/stated.js";
import { FIGURES } from "../../../../text/en/learn.js";
import { BENCH, gain, rowsOf } from "./bench.js";
import { REQUESTS } from "./requests-figures.js";
import { level, times, RUN, speedUp, unitOf } from "./run-figures.js";

/** @import {TraceModel as Model} from "../../../shared/run/trace.js"
 *  @import {Entry, Sources} from "./run-figures.js" */

/** As in app/tabs/learn/lessons.py. */
const NAME = "[a-z_]+(?:\\.[A-Za-z0-9_]+)*";
export const REFERENCE = new RegExp(`\\$(?:(${NAME})|\\{([^{}|]+)\\|(${NAME})\\})`, "g");

/** What is compared with the other screens, by the names that those have for it. @type {Record<string, string>} */
const NAMES = { speedup: "speed_up" };
for (const name of [
  "tokens_per_s",
  "plain_tokens_per_s",
  "ms_per_token",
  "plain_ms",
  "per_forward",
  "acceptance",
  "ceiling",
  "cost",
  "ms",
])
  NAMES[name] = name; // of runs
for (const name of ["speed_up", "low", "high"]) NAMES[name] = name; // of benchmarks

/** @typedef {{value: number|string, text: string, tip: string}} Figure */
/** @typedef {number|string|null|undefined} Value */

/** Whether a figure is one of many requests at once. @param {string} source */
const isRequests = (source) => source === "requests";

/** Whether a figure is one of the shipped results. @param {string} source */
export const isBench = (source) => source === "bench" || source.startsWith("bench:");

/** A reference's figure; null where its run is not at hand or has none.
 *  @param {Sources} sources @param {string} name @param {string} [source] "", a recording, "requests", "bench" or "bench:STACK"
 *  @returns {Figure|null} */
export function figure(sources, name, source = "") {
  const [head, ...rest] = name.split(".");
  if (isBench(source)) {
    const [row, other] = rowsOf(sources, source.slice(6), rest);
    const what = head === "best" ? rest[1] : head;
    const named = what === "stack" && row ? () => row.called : null;
    const found = written(
      BENCH[what],
      (read) => (row ? read(row, other) : null),
      FIGURES.shipped(row?.machine ?? ""),
      named,
    );
    if (found && row && NAMES[what]) stated(NAMES[what], ofBench(row.about, row.stack), found.text);
    return found;
  }
  if (isRequests(source)) {
    const { requests } = sources;
    return written(
      REQUESTS[head],
      (read) => (requests?.loads ? read(requests, ...rest) : null),
      FIGURES.shipped(requests?.about?.machine ?? ""),
    );
  }
  const model = source ? (sources.recordings.get(source) ?? null) : sources.model;
  if (head === "gain") return gain({ ...sources, model }, rest[0]);
  // Not by its title where it is the shown one: that may say what a question asks.
  const from = source ? model?.header?.title || FIGURES.recording(source) : FIGURES.shown;
  if (head === "beside") {
    const shown = sources.model?.header ? speedUp(sources.model) : null;
    const other = model?.header ? speedUp(model) : null;
    return written([FIGURES.beside, times, () => (shown && other ? shown / other : null)], (read) => read(), from);
  }
  const found = written(
    RUN[head],
    (read) => (model?.header ? read(model, ...rest) : null),
    from,
    unitOf(head, rest, model),
  );
  const what = found && model ? comparedAs(model, head, rest) : null;
  if (found && what) stated(what, ofRun(model?.header), found.text);
  return found;
}

/** What a run's figure is called on every screen; null where no other has it. @param {Model} model @param {string} head @param {string[]} rest */
function comparedAs(model, head, rest) {
  const own = (/** @type {string} */ tag) => level(model, tag)?.tag ?? tag;
  const [first, what, tag] = rest;
  if (head === "yields")
    return yieldsOf(own(first), Number(what) || model.levels[(level(model, first)?.index ?? NaN) - 1]?.block || 0);
  if (head === "step") return ["step", first];
  if (head === "reject") return ["reject", ...rest];
  if (head === "round" && what === "usual") return usualOf(own(tag), RUN.round[2](model, first, "rows", tag));
  return NAMES[head] ? [NAMES[head], ...rest.map(own)] : null;
}

/** The median of a level's passes over so many rows. @param {string} level @param {Value} rows */
export const usualOf = (level, rows) => ["usual", level, rows];

/** What a pass of a level yields with blocks of n. @param {string} level @param {number} n */
export const yieldsOf = (level, n) => ["yields", level, n];

/** @template R @param {Entry<R>|undefined} entry @param {(read: R) => Value} asked @param {string} from
 *  @param {((v: any) => string|undefined)|null} [unit] @returns {Figure|null} */
function written(entry, asked, from, unit = null) {
  if (!entry) return null;
  const [tip, format, read] = entry;
  const value = asked(read);
  if (value === null || value === undefined || Number.isNaN(value)) return null;
  const text = (unit ?? format)(value) ?? String(value);
  const code = typeof value === "string" && text !== value ? [value] : []; // of a stack, which is called by its name
  return { value, text, tip: [...code, tip, from].join("; ") };
}

/** Whether a condition such as "$speedup < 1 and $kept > 0.5" holds; null where a figure is missing. */
export const holds = (/** @type {string} */ condition, /** @type {Sources} */ sources) =>
  holdsBy(condition, (source, name) => figure(sources, name, source)?.value ?? null);

/** The same of figures from anywhere. @param {(source: string, name: string) => any} read @param {string} condition */
export function holdsBy(condition, read) {
  const found = condition.split(" and ").map((part) => {
    const [one, sign, other] = part.split(" ");
    const [left, right] = [operand(one, read), operand(other, read)];
    if (left == null || right == null) return null;
    /** @type {Record<string, boolean>} */
    const is = { "<": left < right, ">": left > right, "<=": left <= right, ">=": left >= right, "=": left === right };
    return is[sign];
  });
  return found.includes(null) ? null : found.every(Boolean);
}

function operand(/** @type {string} */ text, /** @type {(source: string, name: string) => Value} */ read) {
  const [found] = references(text);
  return found ? read(found.source, found.name) : Number(text);
}

/** What a text refers to. @param {string} text @returns {{source: string, name: string}[]} */
export const references = (text) =>
  [...text.matchAll(REFERENCE)].map(([, name, source = "", of]) => ({ source, name: name ?? of }));

/** The recordings that a lesson's texts name. @param {any} value */
export function recordingsIn(value) {
  const named = references(JSON.stringify(value)).map(({ source }) => source);
  return [...new Set(named.filter((source) => source && !isBench(source) && !isRequests(source)))];
}

/** Whether a lesson's texts or pictures are of many requests at once. @param {any} value */
export const namesRequests = (value) => references(JSON.stringify(value)).some(({ source }) => isRequests(source));

/** Whether a lesson's texts take figures from the shipped results. @param {any} value */
export const namesResults = (value) =>
  references(JSON.stringify(value)).some(({ source, name }) => isBench(source) || name.split(".")[0] === "gain");
