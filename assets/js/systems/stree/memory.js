/** What drafts keep of a text, and what their next token takes, over the text's length: keys and values beside running
 *  states, on the Results tab. */

import { fixed } from "../../../text/numbers.js";
import { css, layout, narrow, px, safe } from "../../shared/plots/look.js";
import { bring } from "../index.js";
import { MEMORY } from "./words.js";

/** @typedef {{draft: string, length: number, bytes: number, ms: number, interval: [number, number]}} Kept as
 *    hsd_core/systems/stree/page.py declares it
 *  @typedef {{records: Kept[]}} Study */

const HUES = ["--hue-nano", "--mark", "--accent"];

/** @param {Study} study @param {"bytes"|"ms"} what */
export function memoryFigure({ records }, what) {
  const value = (/** @type {Kept} */ one) => (what === "ms" ? one.ms : one.bytes / 1e6);
  const data = [...new Set(records.map(({ draft }) => draft))].map((draft, i) => {
    const own = records.filter((one) => one.draft === draft);
    return {
      type: "scatter",
      mode: "lines+markers",
      name: safe(draft),
      x: own.map(({ length }) => length),
      y: own.map(value),
      error_y: {
        type: "data",
        visible: what === "ms",
        symmetric: false,
        array: own.map(({ ms, interval }) => interval[1] - ms),
        arrayminus: own.map(({ ms, interval }) => ms - interval[0]),
        color: css(HUES[i % HUES.length]),
        thickness: 1.5,
        width: 4,
      },
      line: { color: css(HUES[i % HUES.length]), width: 2 },
      marker: { size: px(9), symbol: i ? "square" : "circle", color: css(HUES[i % HUES.length]) },
      hovertemplate: MEMORY[what].hover,
    };
  });
  const said = MEMORY[what];
  return {
    title: said.title,
    text: said.text,
    figure: {
      data,
      layout: layout(narrow() ? 340 : 320, {
        showlegend: true,
        legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" },
        xaxis: { title: { text: MEMORY.length }, rangemode: "tozero" },
        yaxis: { title: { text: said.axis }, rangemode: "tozero" },
      }),
    },
    table: {
      columns: [MEMORY.draft, MEMORY.length, said.axis],
      rows: records.map((one) => [one.draft, one.length, fixed(value(one), 2)]),
    },
  };
}

/** @param {Study} study @returns {[string, () => any][]} */
const figuresOf = (study) =>
  /** @type {const} */ (["bytes", "ms"]).map((what) => [`memory-${what}`, () => memoryFigure(study, what)]);

bring({ studies: [{ name: "memory", words: MEMORY, figures: figuresOf }] });
