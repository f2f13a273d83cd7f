/** Acceptance over the tokens of training, on a logarithmic axis: dots with intervals, the line without its largest
 *  point, and that point, predicted and measured. */

import { css, layout, narrow, px } from "../../shared/plots/look.js";
import { OVER_TOKENS, SCALING } from "./words.js";
import { GATES, between, bars, listed } from "./readings.js";

const EDGE = 0.1; // of the axis, in powers of ten

/** @param {import("./readings.js").Sweep} sweep @param {string} texts @param {"acceptance"|"tokens_per_pass"} measure */
export function tokensFigure(sweep, texts, measure) {
  const own = sweep.own_size.map((at) => sweep.trainings[at]);
  const laws = sweep.laws[texts];
  const x = own.map(({ tokens }) => tokens);
  const of = (/** @type {string} */ gate) => own.map(({ judged }) => judged[texts][gate][measure]);
  const marks = ticks(x, laws);
  const said = measure === "acceptance" ? OVER_TOKENS.rate : OVER_TOKENS.passes;
  const data = GATES.flatMap(({ gate, hue, symbol }) => {
    const readings = of(gate);
    const law = laws?.[gate][measure];
    const name = SCALING.gates[gate];
    const dots = {
      type: "scatter",
      mode: "markers",
      name,
      x,
      y: readings.map(([value]) => value),
      customdata: readings.map(([, low, high]) => between(low, high)),
      error_y: bars(readings, hue),
      marker: { size: px(9), symbol, color: css(hue) },
      hovertemplate: said.hover,
    };
    if (!law) return [dots];
    return [
      dots,
      {
        type: "scatter",
        mode: "lines",
        name: OVER_TOKENS.line(name),
        x: law.line.map((/** @type {number[]} */ [tokens]) => tokens),
        y: law.line.map((/** @type {number[]} */ [, value]) => value),
        line: { color: css(hue), width: 2 },
        hoverinfo: "skip",
        showlegend: false,
      },
      {
        type: "scatter",
        mode: "markers",
        name: OVER_TOKENS.predicted(name),
        x: [x[x.length - 1]],
        y: [law.predicted[0]],
        customdata: [between(law.predicted[1], law.predicted[2])],
        marker: { size: px(17), symbol: "circle-open", color: css(hue), line: { width: 2 } },
        hovertemplate: said.hover,
      },
      {
        type: "scatter",
        mode: "lines",
        name: OVER_TOKENS.ahead(name),
        x: law.ahead.map((/** @type {number[]} */ [tokens]) => tokens),
        y: law.ahead.map((/** @type {number[]} */ [, value]) => value),
        line: { color: css(hue), width: 2, dash: "dot" },
        customdata: law.ahead.map((/** @type {number[]} */ [, , low, high]) => between(low, high)),
        hovertemplate: said.hover,
        showlegend: gate === "gate",
      },
    ];
  });
  const told = (/** @type {string} */ gate) => laws?.[gate][measure] && OVER_TOKENS.told(laws[gate][measure], said);
  return {
    title: said.title(SCALING.texts[texts]),
    text: `${said.text}${laws ? ` ${OVER_TOKENS.text(told("gate"), told("own"))}` : ` ${OVER_TOKENS.few}`}`,
    figure: {
      data,
      layout: layout(narrow() ? 440 : 400, {
        showlegend: true,
        legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" },
        xaxis: {
          type: "log",
          title: { text: OVER_TOKENS.axis },
          tickvals: marks,
          ticktext: marks.map(short),
          range: [Math.log10(marks[0]) - EDGE, Math.log10(marks[marks.length - 1]) + EDGE],
        },
        yaxis: { title: { text: said.axis }, tickformat: measure === "acceptance" ? ".0%" : ".1f" },
      }),
    },
    table: {
      columns: [
        OVER_TOKENS.axis,
        OVER_TOKENS.copies,
        said.axis,
        SCALING.low,
        SCALING.high,
        OVER_TOKENS.lineThere,
        OVER_TOKENS.off,
      ],
      rows: GATES.flatMap(({ gate }) =>
        of(gate).map((reading, i) => [
          x[i],
          SCALING.gates[gate],
          ...listed(reading, 3),
          ...lineAt(laws?.[gate][measure], i, reading[0]),
        ]),
      ),
    },
  };
}

/** The line's value at a point, and what the point was above it. @param {any} law @param {number} i @param {number} value */
function lineAt(law, i, value) {
  if (!law) return ["", ""];
  const off = i < law.residuals.length ? law.residuals[i] : law.off[0];
  return [(value - off).toFixed(3), `${off <= -0.0005 ? "\u2212" : "+"}${Math.abs(off).toFixed(3)}`];
}

/** Where the axis has its marks: a training each, and as far as a line goes on. @param {number[]} x @param {any} laws */
const ticks = (x, laws) => [
  ...x,
  ...(laws ? laws.gate.acceptance.ahead.slice(1).map((/** @type {number[]} */ [n]) => n) : []),
];

const short = (/** @type {number} */ tokens) =>
  tokens >= 1e6 ? `${(tokens / 1e6).toFixed(1)} M` : `${Math.round(tokens / 1e3)} k`;
