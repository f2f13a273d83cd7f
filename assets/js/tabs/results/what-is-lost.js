/** What stacks that are not exact give up for their speed, for plotly, with its words and its table; exact stacks stand on
 *  the line where nothing is lost. */

import { LOST } from "../../../text/en/results.js";
import { stackNames } from "../../shared/levels/stack-names.js";
import { percent } from "../../shared/run/spared.js";
import { css, layout, narrow, px, safe, wrapped } from "../../shared/plots/look.js";

/** @import {Column, Row} from "./columns.js" */

/** Speed-up over what is lost; null where every stack of the benchmark is exact.
 *  @param {Column} column @param {"spared"|"surprise"} measure */
export function priceFigure(column, measure) {
  const rows = column.stacks.filter((row) => row.stack !== row.plain);
  const [exact, lossy] = [rows.filter(({ price }) => !price), rows.filter(({ price }) => price)];
  if (!lossy.length) return null;
  const names = stackNames(rows.map((row) => row.stack));
  const nothing = measure === "spared" ? 0 : Math.max(...lossy.map(({ price }) => price?.plain ?? 0));
  const at = (/** @type {Row} */ { price }) =>
    price ? (measure === "spared" ? 100 * price.spared : price.surprise) : nothing;
  const most = Math.max(...lossy.map(at));
  const dots = (
    /** @type {Row[]} */ some,
    /** @type {string} */ symbol,
    /** @type {string} */ hue,
    /** @type {string} */ name,
  ) => ({
    type: "scatter",
    mode: narrow() || some === exact ? "markers" : "markers+text",
    name,
    x: some.map(at),
    y: some.map((row) => row.speed_up),
    error_y: {
      type: "data",
      symmetric: false,
      array: some.map((row) => row.interval[1] - row.speed_up),
      arrayminus: some.map((row) => row.speed_up - row.interval[0]),
      color: css(hue),
      thickness: 1,
      width: 0,
    },
    text: some.map((row) => safe(briefly(row.stack))),
    textposition: some.map((row) => (at(row) > 0.85 * most ? "middle left" : "middle right")),
    textfont: { size: px(11) },
    customdata: some.map(
      (row) => `${wrapped(names.get(row.stack) ?? row.stack, 60)}<br>${safe(row.stack)}<br>${said(row)}`,
    ),
    hovertemplate: LOST.hover,
    marker: { size: px(10), symbol, color: css(hue) },
  });
  const words = LOST[measure];
  return {
    title: LOST.title(column.name, words.of),
    text: LOST.text,
    figure: {
      data: [
        dots(exact, "circle", "--hue-target", LOST.exact),
        dots(lossy, "diamond-open", "--hue-reject", LOST.lossy),
      ],
      layout: layout(narrow() ? 420 : 380, {
        showlegend: true,
        legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" },
        xaxis: { title: { text: words.axis }, rangemode: measure === "spared" ? "tozero" : "normal" },
        yaxis: { title: { text: LOST.gain }, rangemode: "tozero" },
        shapes: [
          {
            type: "line",
            x0: nothing,
            x1: nothing,
            yref: "paper",
            y0: 0,
            y1: 1,
            line: { color: css("--hue-target"), width: 1.5 },
          },
          {
            type: "line",
            xref: "paper",
            x0: 0,
            x1: 1,
            y0: 1,
            y1: 1,
            line: { color: css("--muted"), width: 1, dash: "dot" },
          },
        ],
      }),
    },
    table: {
      columns: [LOST.stack, LOST.code, LOST.gain, LOST.spared.axis, LOST.surprise.axis],
      rows: rows.map((row) => [
        names.get(row.stack) ?? row.stack,
        row.stack,
        `${row.speed_up.toFixed(2)}\u00d7`,
        ...lost(row),
      ]),
    },
  };
}

/** What makes a stack other than exact: its target's keys, short enough to stand beside a point. @param {string} stack */
const briefly = (stack) =>
  (stack.split(",").at(-1) ?? stack)
    .replace(/^target@/, "")
    .replace("rule=", "")
    .replaceAll("@", " ");

/** @param {Row} row @returns {[string, string]} */
const lost = ({ price }) =>
  price ? [percent(price.spared), `${price.surprise.toFixed(2)} (${price.plain.toFixed(2)})`] : ["0", LOST.same];

/** @param {Row} row */
const said = (row) => (row.price ? LOST.said(...lost(row)) : LOST.nothing);
