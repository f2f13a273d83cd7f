/** The speed-up by task, for plotly, with its words and its table. */

import { PLOTS } from "../words/tabs/results.js";

const NARROW = 700; // px of the page, as in planner.css
const WALL = 1800;
const FULL = 1.2; // logarithm (base 2) of the speed-up at which a colour is full

const px = (size) => (innerWidth >= WALL ? Math.round(size * 1.4) : size);
const css = (name) => getComputedStyle(document.body).getPropertyValue(name).trim();
/** Plotly reads a small HTML in its labels. */
const safe = (text) => text.replaceAll("<", "‹").replaceAll(">", "›").replaceAll("&", "＆");

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

function layout(height, more) {
  const axis = {
    gridcolor: css("--line"),
    linecolor: css("--line"),
    zeroline: false,
    automargin: true,
    fixedrange: true,
  };
  return {
    height: px(height),
    margin: { l: 8, r: 16, t: 8, b: 8 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: css("--ink"), size: px(12), family: "system-ui, sans-serif" },
    hoverlabel: { bgcolor: css("--raise"), font: { color: css("--ink") }, bordercolor: css("--muted") },
    showlegend: false,
    dragmode: false,
    ...more,
    xaxis: { ...axis, ...more.xaxis },
    yaxis: { ...axis, ...more.yaxis },
  };
}

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

const wide = () => (innerWidth < NARROW ? 15 : 26);
const names = () => ({ family: "ui-monospace, monospace", size: px(innerWidth < NARROW ? 10 : 12) });

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
  const narrow = innerWidth < NARROW;
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
        textfont: { size: px(narrow ? 10 : 12), color: css("--ink") },
        zmin: -FULL,
        zmax: FULL,
        colorscale: [
          [0, mixed("--hue-reject", 0.6)],
          [0.5, css("--paper")],
          [1, mixed("--hue-exit", 0.6)],
        ],
        showscale: false,
        xgap: 2,
        ygap: 2,
        hovertemplate: PLOTS.tasksHover,
      },
    ],
    layout: layout((narrow ? 110 : 64) + rows.length * Math.max(36, tallest(rows.map((row) => row.stack))), {
      xaxis: { side: "top", showgrid: false, tickangle: narrow ? -60 : "auto", tickfont: { size: px(12) } },
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

/** A hue over the paper, as plotly can read it. */
function mixed(name, share) {
  const [a, b] = [css(name), css("--paper")].map(
    (hex) => hex.match(/[\da-f]{2}/gi)?.map((part) => parseInt(part, 16)) ?? [0, 0, 0],
  );
  return `rgb(${a.map((value, i) => Math.round(share * value + (1 - share) * b[i])).join(",")})`;
}
