/** The figures that this page has shown, by what they are of. A figure has one value, on whichever screen it stands: a test
 *  walks through the screens and compares (tests/app/test_figures.py). */

import { duration } from "../../../text/numbers.js";

const MOST = 4000; // figures that are remembered

/** @type {Map<string, Set<string>>} */
export const STATED = new Map();
Object.assign(globalThis, { hxStated: STATED }); // the page's scripts are one: nothing can be imported from it

/** A figure's text, remembered by what it is of.
 *  @param {string|unknown[]} what such as "speed_up", or ["acceptance", "T"] @param {string} of a run, a benchmark's stack or a plan, by `ofRun` and the like
 *  @param {string} text as it is shown */
export function stated(what, of, text) {
  const key = `${[what].flat().filter(Boolean).join(" ")}|${of}`;
  const texts = STATED.get(key) ?? new Set();
  if (STATED.size < MOST) STATED.set(key, texts);
  texts.add(text.replace(/[\u00d7\u00a0]|\bms\b|tokens\/s/g, "").trim());
  return text;
}

/** A run by its trace. @param {{title?: string, stack: string, machine?: string, recorded?: string}|null|undefined} header */
export const ofRun = (header) =>
  header ? ["run", header.title, header.stack, header.machine, header.recorded].join("|") : "run";

/** The time of a stretch of a run: a call of a level, or a round. @param {{header: Parameters<typeof ofRun>[0]}} model @param {{t0: number, t1: number}} stretch ns */
export const timeOf = ({ header }, { t0, t1 }) => stated(["time", t0, t1], ofRun(header), duration(t1 - t0));

/** A stack in a benchmark. @param {{machine: string, recorded: string, preset: string}} about @param {string} stack */
export const ofBench = ({ machine, recorded, preset }, stack) => ["bench", preset, machine, recorded, stack].join("|");

/** What the theory says of a stack. @param {{machine?: string, recorded?: string}|null|undefined} about of the profile @param {string} stack @param {number} [temperature] */
export const ofTheory = (about, stack, temperature = 0) =>
  ["theory", about?.machine, about?.recorded, temperature, stack].join("|");
