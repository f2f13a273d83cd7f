/** What the figures that lessons name are made of: how a value is written, and a run's levels by their letters. */

import { stackName } from "../../../shared/levels/stack-names.js";
import { figure, millis, ratio, rounded } from "../../../../text/numbers.js";

/** @typedef {import("../../../shared/run/trace.js").TraceModel} Model */
/** @typedef {{model: Model|null, recordings: Map<string, Model>, reports: any[]}} Sources */

export const fixed = (digits) => (v) => v.toFixed(digits);
export const whole = (v) => String(Math.round(v));
export const percent = (v) => `${Math.round(100 * v)}\u00a0%`;
export const times = ratio;
export const ms = millis;
export const rate = (v) => rounded(v);
export const chance = figure;
export const as = (text) => String(text);
export const called = (stack) => stackName(String(stack));

/** A level by its letter; `below` is the one that hands up to the target. */
export const level = (model, tag) =>
  (tag === "below" ? model.levels.at(-2) : model.levels.find((one) => one.tag === tag)) ?? null;
