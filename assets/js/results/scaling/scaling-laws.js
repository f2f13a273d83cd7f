/** Scaling laws of acceptance on the Results tab: the bundled sweeps of trainings. */

import { SCALING } from "../../words/tabs/scaling.js";
import { studySheets } from "../../plots/study-sheets.js";
import { hourFigure } from "./hour.js";
import { sizesFigure } from "./sizes.js";
import { tokensFigure } from "./over-tokens.js";

/**
 * @param {{sweeps: string, plotly: string, presets: {name: string, title: string}[]}} setup @param {string} base
 * @returns {HTMLElement}
 */
export function scalingLaws(setup, base) {
  const { title, unreachable, command } = SCALING;
  const told = { url: base + setup.sweeps, plotly: base + setup.plotly, title, unreachable, command };
  return studySheets(told, ({ sweeps }) =>
    sweeps.map((/** @type {import("./readings.js").Sweep} */ sweep) => {
      const { about } = sweep;
      const label = setup.presets.find(({ name }) => name === about.preset)?.title ?? about.preset;
      return {
        label,
        lead: SCALING.lead(label, { ...about, day: about.recorded.slice(0, 10), shown: sweep.texts }),
        command: about.command,
        figures: figuresOf(sweep),
      };
    }),
  );
}

/** Name and maker of each figure, in the order of the page. Texts that no training read come first.
 *  @param {import("./readings.js").Sweep} sweep @returns {[string, () => any][]} */
export function figuresOf(sweep) {
  const [first, ...others] = Object.keys(sweep.texts).reverse();
  /** @type {[string, () => any][]} */ const held = others.map((texts) => [
    `scaling-${texts.replaceAll("_", "-")}`,
    () => tokensFigure(sweep, texts, "acceptance"),
  ]);
  return [
    ["scaling-tokens", () => tokensFigure(sweep, first, "acceptance")],
    ["scaling-passes", () => tokensFigure(sweep, first, "tokens_per_pass")],
    ...held,
    ["scaling-sizes", () => sizesFigure(sweep, first)],
    ["scaling-hour", () => hourFigure(sweep)],
  ];
}
