/** The speed-up by task, for plotly, with its words and its table. */

import { stackNames } from "../../shared/levels/stack-names.js";
import { css, gainScale, layout, narrow, px, safe, wrapped } from "../../shared/plots/look.js";
import { PLOTS } from "../../../text/en/results.js";

const FULL = 1.2; // logarithm (base 2) of the speed-up at which a colour is full

/** Each stack once, by what it is called, the first on top. @param {Map<string, string>} labels by the stacks' codes */
const stackAxis = (labels) => ({
  type: "category",
  categoryorder: "array",
  categoryarray: [...labels.keys()],
  tickmode: "array",
  tickvals: [...labels.keys()],
  ticktext: [...labels.values()],
  autorange: "reversed",
  tickfont: { size: px(narrow() ? 10 : 12) },
});

/** The height of the tallest of these labels. @param {Map<string, string>} labels */
const tallest = (labels) => 8 + 14 * Math.max(...[...labels.values()].map((text) => text.split("<br>").length));

/**
 * What each stack gains on each task on one machine: a field of colours around 1.
 * @param {import("./columns.js").Column} column
 */
export function tasksFigure(column) {
  const rows = column.stacks.filter((row) => row.stack !== row.plain);
  const names = stackNames(rows.map((row) => row.stack));
  const labels = new Map([...names].map(([stack, name]) => [safe(stack), wrapped(name, narrow() ? 18 : 34)]));
  const order = [...labels.keys()];
  const tasks = [...new Set(rows.flatMap((row) => Object.keys(row.tasks)))];
  const gains = rows.map((row) => tasks.map((task) => row.tasks[task] ?? null));
  const said = (gain) => (gain === null ? "" : `${gain >= 10 ? gain.toFixed(1) : gain.toFixed(2)}×`);
  const words = tasks.map((task) => task.replaceAll("_", " "));
  const figure = {
    data: [
      {
        type: "heatmap",
        x: words,
        y: order,
        z: gains.map((row) => row.map((gain) => (gain ? Math.max(-FULL, Math.min(FULL, Math.log2(gain))) : null))),
        text: gains.map((row) => row.map(said)),
        customdata: [...names].map(([stack, name]) => tasks.map(() => `${wrapped(name, 60)}<br>${safe(stack)}`)),
        texttemplate: "%{text}",
        textfont: { size: px(narrow() ? 10 : 12), color: css("--ink") },
        zmin: -FULL,
        zmax: FULL,
        colorscale: gainScale(),
        showscale: false,
        xgap: 2,
        ygap: 2,
        hovertemplate: PLOTS.tasksHover,
      },
    ],
    layout: layout((narrow() ? 110 : 64) + rows.length * Math.max(36, tallest(labels)), {
      xaxis: { side: "top", showgrid: false, tickangle: narrow() ? -60 : "auto", tickfont: { size: px(12) } },
      yaxis: { ...stackAxis(labels), showgrid: false },
    }),
  };
  const few = column.now ? PLOTS.tasksFew : "";
  return {
    title: PLOTS.tasks(column.name),
    text: PLOTS.tasksText + few,
    figure: rows.length ? figure : null,
    table: {
      columns: [PLOTS.stack, PLOTS.code, ...tasks],
      rows: rows.map(({ stack }, i) => [names.get(stack), stack, ...gains[i].map(said)]),
    },
  };
}
