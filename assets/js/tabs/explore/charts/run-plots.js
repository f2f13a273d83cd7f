/** The figures that people study, below the fold: what plotly draws of a run as far as it is written, from the series of the live
 *  charts, the gauges and the tokens' verdicts. Pure functions of the model, but for the page's colours. */

import { fixed } from "../../../../text/numbers.js";
import { clockOf } from "../../../shared/levels/overlap.js";
import { stackName } from "../../../shared/levels/stack-names.js";
import { Plot } from "../../../shared/plots/plots.js";
import { css, layout, safe, solid, wrapped } from "../../../shared/plots/look.js";
import { roundNumber } from "../../../shared/kit/round-number.js";
import { STUDY } from "../../../../text/en/charts.js";
import { entriesOf } from "./small-chart.js";

/** @import {TraceModel} from "../../../shared/run/trace.js" */

/** @typedef {{title: string, text: string, figure: {data: any[], layout: any}, table: {columns: string[], rows: any[][]},
 *   read: (curve: number, point: number) => string}} Shown read: a value in words */

const NAMES = /** @type {const} */ (["acceptance", "time", "tokens"]);
const MARKERS = ["circle", "square", "diamond", "triangle-up"];
const HEIGHT = 300; // px
const LABEL = 18; // characters of a label in one line
const MOST_PLANS = 12; // that are marked
const LEGEND = { showlegend: true, legend: { orientation: "h", y: -0.28, x: 0 } };
const percent = (/** @type {number} */ part) => `${Math.round(100 * part)}%`;
const ms = (/** @type {number} */ ns) => ns / 1e6;

/** The figures with their places. @returns {{els: HTMLElement[], paint: (model: TraceModel, over: boolean) => void, label: string}} */
export function growing() {
  const url = new URL("../../../../../lib/plotly.min.js", import.meta.url).href;
  const plots = [STUDY.acceptance, STUDY.time, STUDY.tokens].map(({ title }, i) => {
    const plot = new Plot(NAMES[i], { url, label: title, className: "hx-figure", reads: STUDY.keys(title) });
    plot.title.textContent = title; // its room is there from the start
    return plot;
  });
  const paint = (/** @type {TraceModel} */ model, /** @type {boolean} */ over) => {
    const shown = runPlots(model, over);
    plots.forEach((plot, i) => plot.show(shown[NAMES[i]]));
  };
  return { els: plots.map(({ el }) => el), paint, label: STUDY.label };
}

/** @param {TraceModel} model @param {boolean} [over] nothing more comes of it @returns {Record<"acceptance"|"time"|"tokens", Shown>} */
export function runPlots(model, over = true) {
  const { header, plans } = model;
  const clock = STUDY.clocks[clockOf(header)] ?? "";
  const auto = plans.length ? STUDY.auto(plans.length - 1) : "";
  const said = (/** @type {Shown} */ shown) => ({ ...shown, text: `${clock}${auto}${shown.text}` });
  return { acceptance: said(acceptance(model)), time: said(time(model)), tokens: said(tokens(model, over)) };
}

/** @param {TraceModel} model @returns {Shown} */
function acceptance({ levels, judged }) {
  const those = levels.flatMap((level) => {
    const cells = judged[level.index] ?? [];
    return cells.length ? [{ level, cells, name: safe(level.name) }] : [];
  });
  const data = those.map(({ level, cells, name }) => ({
    ...{ type: "scatter", mode: "lines+markers", name: STUDY.by(name) },
    x: cells.map((_, i) => i + 1),
    y: cells.map(({ accepted, of }) => accepted / of),
    line: { color: solid(level.hue), width: 2 },
    marker: { size: 8, symbol: MARKERS[level.index % MARKERS.length] },
    customdata: cells.map(({ accepted, of }) => [accepted, of]),
    hovertemplate: STUDY.acceptance.hover,
  }));
  const rows = those.flatMap(({ level, cells }) =>
    cells.map(({ accepted, of }, i) => [level.name, i + 1, of, accepted, percent(accepted / of)]),
  );
  return {
    ...{ title: STUDY.acceptance.title, text: STUDY.acceptance.text },
    figure: {
      data,
      layout: layout(HEIGHT, {
        ...LEGEND,
        xaxis: { title: { text: STUDY.acceptance.x }, ...(rows.length < 24 ? { dtick: 1 } : {}) },
        yaxis: { title: { text: STUDY.acceptance.y }, tickformat: ".0%", range: [0, 1.05] },
      }),
    },
    table: { columns: STUDY.acceptance.columns, rows },
    read: (curve, point) => {
      const { level, cells } = those[curve];
      const { accepted, of } = cells[point];
      return STUDY.acceptance.heard(level.name, point + 1, percent(accepted / of), accepted, of);
    },
  };
}

/** @param {TraceModel} model @returns {Shown} */
function time(model) {
  const { levels, segments } = model;
  const last = model.snapshots.at(-1);
  const prefill = (/** @type {number} */ level) =>
    segments.filter((one) => one.kind === "prefill" && one.level === level).reduce((sum, x) => sum + x.t1 - x.t0, 0);
  const spent = levels.map((level) => {
    const busy = model.figures.of(Infinity, level.index)?.busy_ms ?? 0;
    const lost = busy * (last?.waste?.[level.index] ?? 0);
    return { level, kept: busy - lost, lost, drafts: level.index === 0 && levels.length > 1 };
  });
  const joined = segments.filter((one) => one.kind === "prefill" && one.round !== null);
  const work = spent.reduce((sum, { kept, lost }) => sum + kept + lost, 0);
  const passes = work + ms(joined.reduce((sum, x) => sum + x.t1 - x.t0, 0));
  const between = Math.max(0, (model.footer ? ms(model.footer.decode_ns) : (last?.decode_ms ?? 0)) - passes);
  const names = [...spent.map(({ level }) => level.name), STUDY.time.between];
  const parts = [
    { name: STUDY.time.kept, values: [...spent.map(({ kept }) => kept), between] },
    { name: STUDY.time.lost, values: [...spent.map(({ lost }) => lost), 0] },
  ];
  const hues = [...levels.map(({ hue }) => solid(hue)), css("--muted")];
  const data = parts.map(({ name, values }, i) => ({
    ...{
      type: "bar",
      orientation: "h",
      y: names.map((one) => wrapped(one, LABEL)),
      x: values,
      name,
      hovertemplate: STUDY.time.hover(name),
    },
    marker: {
      color: i ? solid("var(--hue-reject)") : hues,
      pattern: { shape: i ? "/" : "", solidity: 0.2, fgcolor: css("--paper"), fillmode: "overlay" },
    },
  }));
  const rows = spent.map(({ level, kept, lost, drafts }) => [
    level.name,
    ...[ms(prefill(level.index)), drafts ? kept : 0, drafts ? 0 : kept, lost].map((x) => fixed(x, 1)),
  ]);
  return {
    ...{ title: STUDY.time.title, text: STUDY.time.text },
    figure: {
      data,
      layout: layout(HEIGHT, {
        ...LEGEND,
        barmode: "stack",
        xaxis: { title: { text: STUDY.time.x }, rangemode: "tozero" },
      }),
    },
    table: {
      columns: STUDY.time.columns,
      rows: [...rows, [STUDY.time.between, "", "", "", STUDY.time.took(fixed(between, 1))]],
    },
    read: (curve, point) => STUDY.time.heard(names[point], fixed(parts[curve].values[point], 1), parts[curve].name),
  };
}

/** @param {TraceModel} model @param {boolean} over @returns {Shown} */
function tokens(model, over) {
  const { baseline, header, footer, plans, segments } = model;
  const begun = footer?.prefill_ns ?? segments.findLast((one) => one.kind === "prefill" && one.round === null)?.t1 ?? 0;
  let written = 0;
  const curve = entriesOf(model, Infinity, Infinity).map(({ t1, tokens }) => ({ t: t1, n: (written += tokens) }));
  const runs = [
    {
      name: STUDY.tokens.own,
      curve,
      begun,
      rate: model.snapshots.at(-1)?.tokens_per_s ?? null,
      colour: solid("var(--hue-target)"),
      dash: "solid",
      width: 3,
    },
  ];
  if (baseline) {
    const plain = baseline.token_ns.map((t, i) => ({ t: baseline.prefill_ns + t, n: i + 1 }));
    const rate = plain.length ? (1e9 * plain.length) / (plain[plain.length - 1].t - baseline.prefill_ns) : null;
    const name = STUDY.tokens.plain(Boolean(header?.simulated));
    runs.push({
      ...{ name, curve: plain, begun: baseline.prefill_ns, rate },
      colour: css("--muted"),
      dash: "dash",
      width: 2,
    });
  }
  const points = runs.map(({ curve, begun }) => [{ t: begun, n: 0 }, ...curve]);
  const data = runs.map(({ name, colour, dash, width }, i) => ({
    ...{ type: "scatter", mode: "lines", name, hovertemplate: STUDY.tokens.hover },
    x: points[i].map(({ t }) => t / 1e9),
    y: points[i].map(({ n }) => n),
    line: { color: colour, width, dash, shape: "hv" },
  }));
  const marked = plans.slice(1, MOST_PLANS).map((plan) => ({ x: plan.t / 1e9, text: safe(stackName(plan.stack)) }));
  const shapes = [
    {
      type: "rect",
      xref: "x",
      yref: "paper",
      x0: 0,
      x1: begun / 1e9,
      y0: 0,
      y1: 1,
      line: { width: 0 },
      fillcolor: css("--line"),
      opacity: 0.6,
      layer: "below",
    },
    ...marked.map(({ x }) => ({
      type: "line",
      xref: "x",
      yref: "paper",
      x0: x,
      x1: x,
      y0: 0,
      y1: 1,
      line: { color: css("--muted"), width: 1, dash: "dot" },
    })),
  ];
  const note = { showarrow: false, yref: "paper", xanchor: "left", font: { color: css("--muted") } };
  const annotations = [
    { ...note, x: 0, y: 1, yanchor: "top", text: STUDY.tokens.prefill },
    ...marked.map(({ x, text }) => ({
      ...note,
      x,
      y: 0,
      yanchor: "bottom",
      textangle: -90,
      text,
      font: { color: css("--muted"), size: 10 },
    })),
  ];
  const told = plans
    .slice(0, MOST_PLANS)
    .map((plan) => STUDY.tokens.planned(roundNumber(plan.round), stackName(plan.stack)));
  return {
    title: STUDY.tokens.title,
    text: STUDY.tokens.text(!over || Boolean(baseline), told.join("; ")),
    figure: {
      data,
      layout: layout(HEIGHT, {
        ...LEGEND,
        ...(begun ? { shapes, annotations } : {}),
        xaxis: { title: { text: STUDY.tokens.x }, rangemode: "tozero" },
        yaxis: { title: { text: STUDY.tokens.y }, rangemode: "tozero" },
      }),
    },
    table: {
      columns: STUDY.tokens.columns,
      rows: runs.map(({ name, curve, begun, rate }) => {
        const end = curve.at(-1) ?? { t: begun, n: 0 };
        return [name, ms(begun).toFixed(0), end.n, ms(end.t).toFixed(0), rate === null ? "" : fixed(rate, 1)];
      }),
    },
    read: (curve, point) => {
      const { t, n } = points[curve][point];
      return STUDY.tokens.heard(runs[curve].name, fixed(t / 1e9, 2), n);
    },
  };
}
