/** What the figures that lessons name are made of: how a value is written, and a run's levels by their letters. */

import { stackName } from "../../../shared/levels/stack-names.js";
import { figure, millis, ratio, rounded } from "../../../../text/numbers.js";

/** @typedef {import("../../../shared/run/trace.js").TraceModel} Model */
/**
 * Lessons as app/tabs/learn/lessons.py declares them.
 * @typedef {{recording?: string, at?: string, play?: string, seconds?: number, token?: number|"copied", light?: string[],
 *   set?: Record<string, any>, tab?: string}} Action
 * @typedef {{kind: string, recording?: string, at?: string, to?: string, between?: [string, string], colour?: string, stacks?: string[],
 *   levels?: string[], guesses?: number, shows?: "exit"|"both"|"bonus", open?: "exit"|"both"}} Drawn
 * @typedef {{answer: string, given?: string, unit?: string, within?: number}} Estimate
 * @typedef {{ask: string, hides?: string[], choices?: {text: string, right?: boolean, when?: string}[], number?: Estimate}} Question
 * @typedef {{when: string, text: string}} Also
 * @typedef {{text: string, figure?: Drawn, also?: Also[], action?: Action}} Reveal
 * @typedef {{title: string, text: string, figure?: Drawn, action?: Action, question?: Question, reveal?: Reveal}} Step
 * @typedef {{id: string, number: number, title: string, goal: string, minutes: number, steps: Step[], summary: string[], sources?: string[],
 *   try: {text: string, button?: string, action?: Action}}} Lesson
 * @typedef {number|null} Answer the index of a choice, an estimate, null for one that was shown
 */
/** @template R @typedef {[tip: string, format: (v: any) => string, read: R]} Entry a figure: what it is, how it is written and read */
/** @typedef {{model: Model|null, recordings: Map<string, Model>, reports: any[]}} Sources */

export const fixed = (/** @type {number} */ digits) => (/** @type {number} */ v) => v.toFixed(digits);
export const whole = (/** @type {number} */ v) => String(Math.round(v));
export const percent = (/** @type {number} */ v) => `${Math.round(100 * v)}\u00a0%`;
export const times = ratio;
export const ms = millis;
export const rate = (/** @type {number} */ v) => rounded(v);
export const chance = figure;
export const as = (/** @type {unknown} */ text) => String(text);
export const called = (/** @type {unknown} */ stack) => stackName(String(stack));

/** A level by its letter; `below` is the one that hands up to the target. @param {Model} model @param {string} tag */
export const level = (model, tag) =>
  (tag === "below" ? model.levels.at(-2) : model.levels.find((one) => one.tag === tag)) ?? null;
