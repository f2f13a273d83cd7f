/** Scaling laws of acceptance on the Results tab: a bundled sweep of trainings. */

import { SCALING } from "./words.js";
import { bring } from "../index.js";
import { hourFigure } from "./hour.js";
import { sizesFigure } from "./sizes.js";
import { tokensFigure } from "./over-tokens.js";

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

bring({ studies: [{ name: "scaling", words: SCALING, figures: figuresOf }] });
