/** The speed-up by task, for plotly, with its words and its table. */

import { css, gainScale, layout, narrow, px, safe } from "../plots/look.js";
import { PLOTS } from "../words/tabs/results.js";

const FULL = 1.2; // logarithm (base 2) of the speed-up at which a colour is full

/** A stack as the label of an axis: in lines of about so many characters. @param {string} text @param {number} longest */
function label(text, longest) {
  const lines = [""];
  for (const part of safe(text).split(/(?<=,)|(?=@)/)) {
    if (lines[lines.length - 1] && lines[lines.length - 1].length + part.length > longest) lines.push("");
    lines[lines.length - 1] += part;
  }
  return lines.join("<br>");
}

/** The height of the tallest of these labels. @param {string[]} names */
const tallest = (names) => 8 + 14 * Math.max(...names.map((name) => label(name, wide()).split("<br>").length));

/** Each name once, the first on top. @param {string[]} order as the data have them */
const stackAxis = (order) => ({
  type: "category",
  categoryorder: "array",
  categoryarray: order,
  tickmode: "array",
  tickvals: order,
  ticktext: order.map((name) => label(name, wide())),
  autorange: "reversed",
  tickfont: names(),
});

const wide = () => (narrow() ? 15 : 26);
const names = () => ({ family: css("--font-mono"), size: px(narrow() ? 10 : 12) });

/**
 * What each stack gains on each task on one machine: a field of colours around 1.
 * @param {import("./columns.js").Column} column
 */
export function tasksFigure(column) {
  const rows = column.stacks.filter((row) => row.stack !== row.plain);
  const order = rows.map((row) => safe(row.stack)); // a label of the chart's hover, which reads HTML
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
    layout: layout((narrow() ? 110 : 64) + rows.length * Math.max(36, tallest(rows.map((row) => row.stack))), {
      xaxis: { side: "top", showgrid: false, tickangle: narrow() ? -60 : "auto", tickfont: { size: px(12) } },
      yaxis: { ...stackAxis(order), showgrid: false },
    }),
  };
  const few = column.now ? PLOTS.tasksFew : "";
  return {
    title: PLOTS.tasks(column.name),
    text: PLOTS.tasksText + few,
    figure: rows.length ? figure : null,
    table: { columns: [PLOTS.stack, ...tasks], rows: rows.map((row, i) => [row.stack, ...gains[i].map(said)]) },
  };
}
