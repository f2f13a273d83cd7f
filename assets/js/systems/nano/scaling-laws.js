/** Scaling laws of acceptance on the Results tab, from a bundled sweep of trainings: over tokens, over sizes, and
 *  what another hour of training would buy. */

import { SCALING, HOUR, LOAD, SIZES, OVER_TOKENS } from "./words.js";
import { bring } from "../index.js";
import { css, layout, narrow, safe, wrapped, px } from "../../shared/plots/look.js";
import { stackNames } from "../../shared/levels/stack-names.js";

// Acceptance over the tokens of training, on a logarithmic axis: dots with intervals, the line without its largest
// point, and that point, predicted and measured.

const EDGE = 0.1; // of the axis, in powers of ten

/** @param {Sweep} sweep @param {string} texts @param {"acceptance"|"tokens_per_pass"} measure */
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

// Drafts of other sizes, trained on the same tokens: acceptance over the weights that a drafted token reads.

/** The share of the tokens that most sizes were trained on. @param {any[]} trainings @returns {any[]} smallest first */
function sameTokens(trainings) {
  const having = (/** @type {number} */ share) => trainings.filter((one) => one.share === share);
  const most = trainings.map(({ share }) => having(share)).reduce((a, b) => (b.length > a.length ? b : a), []);
  return most.sort((a, b) => a.weights - b.weights);
}

/** @param {Sweep} sweep @param {string} texts */
export function sizesFigure(sweep, texts) {
  const some = sameTokens(sweep.trainings);
  if (some.length < 2) return null;
  const x = some.map(({ weights }) => weights / 1e6);
  const names = some.map(({ layers, rows }) => SIZES.size(layers, rows));
  const data = GATES.map(({ gate, hue, symbol }) => {
    const readings = some.map(({ judged }) => judged[texts][gate].acceptance);
    return {
      type: "scatter",
      mode: "markers",
      name: SCALING.gates[gate],
      x: some.map((_, i) => i),
      y: readings.map(([value]) => value),
      text: names,
      customdata: readings.map(([, low, high]) => between(low, high)),
      error_y: bars(readings, hue),
      marker: { size: px(10), symbol, color: css(hue) },
      hovertemplate: SIZES.hover,
    };
  });
  const values = data.flatMap(({ y }) => y);
  return {
    title: SIZES.title,
    text: SIZES.text(some[0].tokens, SCALING.texts[texts]),
    figure: {
      data,
      layout: layout(narrow() ? 400 : 380, {
        showlegend: true,
        legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" },
        xaxis: {
          title: { text: wrapped(SIZES.axis, narrow() ? 36 : 80) },
          tickvals: some.map((_, i) => i),
          ticktext: some.map(({ layers, rows }, i) => SIZES.tick(layers, rows, x[i])),
          range: [-0.5, some.length - 0.5],
          showgrid: false,
        },
        yaxis: {
          title: { text: SIZES.rate },
          tickformat: ".0%",
          range: [Math.max(0, Math.min(...values) - 0.08), Math.min(1, Math.max(...values) + 0.1)],
        },
      }),
    },
    table: {
      columns: [
        SIZES.draft,
        SIZES.weights,
        SIZES.share,
        SIZES.seconds,
        SIZES.copies,
        SIZES.rate,
        SCALING.low,
        SCALING.high,
      ],
      rows: GATES.flatMap(({ gate }) =>
        some.map((one, i) => [
          names[i],
          x[i].toFixed(2),
          `${(100 * one.weight_share).toFixed(1)} %`,
          one.core_seconds.toFixed(0),
          SCALING.gates[gate],
          ...listed(one.judged[texts][gate].acceptance, 3),
        ]),
      ),
    },
  };
}

// What another hour of training would buy: tokens/s by the recursion, predicted now and then.

/** @type {{when: "now"|"then", hue: string}[]} */
const WHEN = [
  { when: "now", hue: "--hue-ngram" },
  { when: "then", hue: "--hue-nano" },
];

/** @param {Sweep} sweep */
export function hourFigure({ hour }) {
  if (!hour) return null;
  const names = stackNames(hour.stacks.map((/** @type {any} */ one) => one.stack));
  const stacks = [...names].map(([stack, name]) => `${wrapped(name, narrow() ? 18 : 34)}<br>${safe(stack)}`);
  const data = WHEN.map(({ when, hue }) => {
    const readings = hour.stacks.map((/** @type {any} */ one) => one.tokens_per_s[when]);
    return {
      type: "bar",
      name: HOUR.after(hour[when === "now" ? "from" : "tokens"]),
      x: stacks,
      y: readings.map((/** @type {number[]} */ [value]) => value),
      customdata: readings.map((/** @type {number[]} */ [, low, high]) => between(low, high, 1)),
      error_y: bars(readings, "--ink"),
      marker: { color: css(hue), opacity: 0.85 },
      hovertemplate: HOUR.hover,
    };
  });
  return {
    title: HOUR.title,
    text: HOUR.text(hour, SCALING.texts[hour.texts]),
    figure: {
      data: [
        ...data,
        {
          type: "scatter",
          mode: "lines",
          name: HOUR.plain,
          x: stacks,
          y: hour.stacks.map((/** @type {any} */ one) => one.plain),
          line: { dash: "dot", color: css("--ink"), width: 2 },
          hovertemplate: HOUR.plainHover,
        },
      ],
      layout: layout(narrow() ? 380 : 360, {
        barmode: "group",
        showlegend: true,
        legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" },
        xaxis: { type: "category" },
        yaxis: { title: { text: HOUR.axis }, rangemode: "tozero" },
      }),
    },
    table: {
      columns: [HOUR.stack, HOUR.learned, HOUR.axis, SCALING.low, SCALING.high],
      rows: hour.stacks.flatMap((/** @type {any} */ one) =>
        WHEN.map(({ when }) => [
          one.stack,
          hour[when === "now" ? "from" : "tokens"],
          ...listed(one.tokens_per_s[when], 1),
        ]),
      ),
    },
  };
}

// What a training is worth where requests share passes: the speed-up at the best block length, over requests at once.

/** @param {Sweep} sweep */
export function loadFigure({ loads }) {
  if (!loads.length) return null;
  const hues = ["--mark", "--hue-nano"];
  const data = loads[0].gains.map((/** @type {number[]} */ [tokens], /** @type {number} */ i) => ({
    type: "scatter",
    mode: "lines+markers",
    name: LOAD.after(tokens),
    x: loads.map((one) => one.load),
    y: loads.map((one) => one.gains[i][1]),
    customdata: loads.map((one) => one.gains[i][2]),
    line: { color: css(hues[i]), width: 2 },
    marker: { size: px(9), symbol: i ? "circle" : "square", color: css(hues[i]) },
    hovertemplate: LOAD.hover,
  }));
  return {
    title: LOAD.title,
    text: LOAD.text(loads.every((one) => one.measured)),
    figure: {
      data,
      layout: layout(narrow() ? 380 : 360, {
        showlegend: true,
        legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" },
        xaxis: { type: "log", title: { text: LOAD.axis }, tickvals: loads.map((one) => one.load) },
        yaxis: { title: { text: LOAD.gain }, rangemode: "tozero" },
        shapes: [
          { type: "line", xref: "paper", x0: 0, x1: 1, y0: 1, y1: 1, line: { dash: "dot", color: css("--ink") } },
        ],
      }),
    },
    table: {
      columns: [LOAD.axis, LOAD.learned, LOAD.gain, LOAD.block],
      rows: loads.flatMap((one) =>
        one.gains.map((/** @type {number[]} */ [tokens, gain, block]) => [one.load, tokens, gain.toFixed(2), block]),
      ),
    },
  };
}

// Readings of a sweep, [value, low, high], as figures and tables show them.

/** One sweep, as `hsd_core/systems/nano/train/scaling/sweep_study.py` gives it; readings are [value, low, high].
 *  @typedef {{id: string, about: any, trainings: any[], own_size: number[], laws: any, hour: any, loads: any[], texts: Record<string, number>}} Sweep
 */

/** With copies and without: their colours and shapes. @type {{gate: "gate"|"own", hue: string, symbol: string}[]} */
export const GATES = [
  { gate: "gate", hue: "--hue-nano", symbol: "circle" },
  { gate: "own", hue: "--mark", symbol: "square" },
];

/** Error bars of plotly. @param {number[][]} readings @param {string} hue */
export const bars = (readings, hue) => ({
  type: "data",
  symmetric: false,
  array: readings.map(([value, , high]) => high - value),
  arrayminus: readings.map(([value, low]) => value - low),
  color: css(hue),
  thickness: 1.5,
  width: 4,
});

/** @param {number} low @param {number} high @param {number} [digits] */
export const between = (low, high, digits = 3) => SCALING.between(low.toFixed(digits), high.toFixed(digits));

/** Its cells in a table. @param {number[]} reading @param {number} digits */
export const listed = (reading, digits) => reading.map((each) => each.toFixed(digits));

/** Name and maker of each figure, in the order of the page. Texts that no training read come first.
 *  @param {Sweep} sweep @returns {[string, () => any][]} */
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
    ["scaling-load", () => loadFigure(sweep)],
  ];
}

bring({ studies: [{ name: "scaling", words: SCALING, figures: figuresOf }] });
