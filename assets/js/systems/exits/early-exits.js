/** Early exits on the Results tab: HiSpec's figures of a bundled study, and why its stacks lose in a benchmark. */

import { EXITS, LOST } from "./words.js";
import { bring } from "../index.js";
import { depthFigure, gridFigure, quarterFigure, sweepFigure } from "./by-depth.js";
import { ratiosFigure, runsFigure } from "./clock.js";
import { oneMap, plainMap } from "./what-it-takes.js";

/** Name and maker of each figure, in the order of the page. @type {[string, (study: import("./by-depth.js").Study) => any][]} */
const FIGURES = [
  ["exit-depths", depthFigure],
  ["exit-quarter", quarterFigure],
  ["exit-runs", runsFigure],
  ["exit-ratios", ratiosFigure],
  ["exit-sweep", sweepFigure],
  ["exit-grid", gridFigure],
  ["exit-plain", plainMap],
  ["exit-one", (study) => oneMap(study, "measured")],
  ["exit-ideal", (study) => oneMap(study, "ideal")],
];

bring({
  studies: [
    { name: "exits", words: EXITS, figures: (study) => FIGURES.map(([name, make]) => [name, () => make(study)]) },
  ],
  losses: [
    {
      name: "exits",
      called: (stack) => (exitsAlone(stack) ? LOST.called : ""),
      why: (/** @type {{at: number, of: number, share: number}[]} */ parts) =>
        parts.length
          ? LOST.why(parts.map(({ at, of, share }) => LOST.part(at, of, Math.round(100 * share))).join(", "))
          : "",
    },
  ],
});

/** Exits above exits, as HiSpec stacks them. @param {string} stack */
function exitsAlone(stack) {
  const below = stack.split(",").slice(0, -1);
  return below.length > 1 && below.every((level) => /^exit[:@]/.test(level));
}
