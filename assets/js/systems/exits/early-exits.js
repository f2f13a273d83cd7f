/** Early exits on the Results tab: HiSpec's figures of a bundled study. */

import { EXITS } from "./words.js";
import { bring } from "../index.js";
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

bring({
  studies: [
    { name: "exits", words: EXITS, figures: (study) => FIGURES.map(([name, make]) => [name, () => make(study)]) },
  ],
});
