/** Early exits on the Results tab: HiSpec's figures from the bundled studies. */

import { EXITS } from "../../words/tabs/exits.js";
import { studySheets } from "../../plots/study-sheets.js";
import { depthFigure, quarterFigure } from "./by-depth.js";
import { ratiosFigure, runsFigure } from "./clock.js";
import { sweepFigure } from "./sweep-map.js";
import { oneMap, plainMap } from "./what-it-takes.js";

/** Name and maker of each figure, in the order of the page. @type {[string, (study: import("./study-data.js").Study) => any][]} */
const FIGURES = [
  ["exit-depths", depthFigure],
  ["exit-quarter", quarterFigure],
  ["exit-runs", runsFigure],
  ["exit-ratios", ratiosFigure],
  ["exit-sweep", sweepFigure],
  ["exit-plain", plainMap],
  ["exit-one", (study) => oneMap(study, "measured")],
  ["exit-ideal", (study) => oneMap(study, "ideal")],
];

/**
 * @param {{exits: string, plotly: string, presets: {name: string, title: string}[]}} setup @param {string} base
 * @returns {HTMLElement}
 */
export function earlyExits(setup, base) {
  const { title, unreachable, command } = EXITS;
  const told = { url: base + setup.exits, plotly: base + setup.plotly, title, unreachable, command };
  return studySheets(told, ({ studies }) =>
    studies.map((/** @type {import("./study-data.js").Study} */ study) => {
      const { about } = study;
      const label = setup.presets.find(({ name }) => name === about.preset)?.title ?? about.preset;
      return {
        label,
        lead: EXITS.lead(label, { ...about, day: about.recorded.slice(0, 10) }),
        command: about.command,
        figures: FIGURES.map(([name, make]) => [name, () => make(study)]),
      };
    }),
  );
}
