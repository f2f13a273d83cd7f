/** Readings of a sweep, [value, low, high], as figures and tables show them. */

import { css } from "../../shared/plots/look.js";
import { SCALING } from "./words.js";

/**
 * One sweep, as `hsd_core/systems/nano/train/scaling/sweep_study.py` gives it; readings are [value, low, high].
 * @typedef {{id: string, about: any, trainings: any[], own_size: number[], laws: any, hour: any, texts: Record<string, number>}} Sweep
 */

/** With copies and without: their colours and shapes. @type {{gate: "gate"|"own", hue: string, symbol: string}[]} */
export const GATES = [
  { gate: "gate", hue: "--hue-nano", symbol: "circle" },
  { gate: "own", hue: "--mark", symbol: "square" },
];

/** Error bars of plotly. @param {number[][]} readings @param {string} hue */
export const bars = (readings, hue) => ({
  type: "data",
  symmetric: false,
  array: readings.map(([value, , high]) => high - value),
  arrayminus: readings.map(([value, low]) => value - low),
  color: css(hue),
  thickness: 1.5,
  width: 4,
});

/** @param {number} low @param {number} high @param {number} [digits] */
export const between = (low, high, digits = 3) => SCALING.between(low.toFixed(digits), high.toFixed(digits));

/** Its cells in a table. @param {number[]} reading @param {number} digits */
export const listed = (reading, digits) => reading.map((each) => each.toFixed(digits));
