/** The speed-up by task and by temperature, for plotly, with its words and its table; and what a paper reports, drawn
 *  the same way. */

import { PLOTS, RESULTS } from "../../../text/en/results.js";
import { stackNames } from "../../shared/levels/stack-names.js";
import { css, gainScale, layout, narrow, px, safe, wrapped } from "../../shared/plots/look.js";

/** @import {Column} from "./columns.js" */

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

/** @param {number|null} gain */
const said = (gain) => (gain === null ? "" : `${gain >= 10 ? gain.toFixed(1) : gain.toFixed(2)}\u00d7`);

/** A field of colours around 1. @param {{code: string, name: string, tasks: Record<string, number>}[]} rows */
function field(rows) {
  const labels = new Map(rows.map(({ code, name }) => [safe(code), wrapped(name, narrow() ? 18 : 34)]));
  const tasks = [...new Set(rows.flatMap((row) => Object.keys(row.tasks)))];
  const gains = rows.map((row) => tasks.map((task) => row.tasks[task] ?? null));
  const figure = {
    data: [
      {
        type: "heatmap",
        x: tasks.map((task) => safe(task.replaceAll("_", " "))),
        y: [...labels.keys()],
        z: gains.map((row) => row.map((gain) => (gain ? Math.max(-FULL, Math.min(FULL, Math.log2(gain))) : null))),
        text: gains.map((row) => row.map(said)),
        customdata: rows.map(({ code, name }) => tasks.map(() => `${wrapped(name, 60)}<br>${safe(code)}`)),
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
      xaxis: {
        type: "category",
        side: "top",
        showgrid: false,
        tickangle: narrow() ? -60 : "auto",
        tickfont: { size: px(12) },
      },
      yaxis: { ...stackAxis(labels), showgrid: false },
    }),
  };
  return {
    figure: rows.length ? figure : null,
    table: {
      columns: [PLOTS.stack, PLOTS.code, ...tasks],
      rows: rows.map(({ code, name }, i) => [name, code, ...gains[i].map(said)]),
    },
  };
}

/** What each stack gains on each task on one machine. @param {Column} column */
export function tasksFigure(column) {
  const rows = column.stacks.filter((row) => row.stack !== row.plain);
  const names = stackNames(rows.map((row) => row.stack));
  return {
    title: PLOTS.tasks(column.name),
    text: PLOTS.tasksText + (column.now ? PLOTS.tasksFew : ""),
    ...field(rows.map(({ stack, tasks }) => ({ code: stack, name: names.get(stack) ?? stack, tasks }))),
  };
}

/** What the paper of these stacks reports, and why ours differ; null where a benchmark has no paper beside it.
 *  @param {Column} column */
export function paperFigure({ paper }) {
  if (!paper) return null;
  return {
    title: PLOTS.paper(paper.paper),
    text: `${PLOTS.paperText(paper.on)} ${paper.why}`,
    ...field(paper.rows.map(({ name, stack, tasks }) => ({ code: stack || name, name, tasks }))),
  };
}

/** What stacks gain where tokens are drawn, above what the paper reports; null where no benchmark asked.
 *  @param {Column} column */
export function drawnFigure({ drawn, paper }) {
  const names = stackNames(Object.keys(drawn));
  const ours = Object.entries(drawn).map(([code, tasks]) => ({ code, name: names.get(code) ?? code, tasks }));
  if (!ours.length) return null;
  const theirs = (paper?.drawn ?? []).map(({ name, tasks }) => ({ code: name, name: PLOTS.paper(name), tasks }));
  return {
    title: RESULTS.drawn,
    text: PLOTS.drawnText + (paper && theirs.length ? ` ${PLOTS.drawnPaper(paper.on)}` : ""),
    ...field([...ours, ...theirs]),
  };
}
