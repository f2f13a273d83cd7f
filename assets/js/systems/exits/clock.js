/** Stacks of exits on the clock (HiSpec's figure 1, as far as there are rows), and what a verification costs (figure 2). */

import { stackNames } from "../../shared/levels/stack-names.js";
import { css, layout, narrow, px, safe, wrapped } from "../../shared/plots/look.js";
import { EXITS, RATIOS, RUNS } from "./words.js";
import { of } from "./by-depth.js";

const HUES = ["--hue-target", "--mark", "--good", "--muted"]; // of the machines, in order
const MOST = 8; // bars; of more runs, which the grid shows, those that are computed too

const mono = () => ({ family: css("--font-mono"), size: px(narrow() ? 10 : 12) });

const axisOf = (/** @type {string[]} */ order, /** @type {(name: string) => string} */ label, font = {}) => ({
  type: "category",
  tickmode: "array",
  tickvals: order,
  ticktext: order.map(label),
  autorange: "reversed",
  tickfont: font,
});

/** @param {import("./by-depth.js").Study} study */
export function runsFigure(study) {
  const computed = new Map(of(study, "predicted").map((one) => [one.stack, one.speed_up]));
  const all = of(study, "run");
  const runs = all.length > MOST ? all.filter(({ stack }) => computed.has(stack)) : all;
  const order = runs.map(({ stack }) => stack);
  const names = stackNames(order);
  const called = (/** @type {string} */ stack) => names.get(stack) ?? stack;
  const whole = (/** @type {string} */ stack) => `${wrapped(called(stack), 60)}<br>${safe(stack)}`;
  const told = runs.filter(({ stack }) => computed.has(stack));
  const data = [
    {
      type: "bar",
      orientation: "h",
      name: RUNS.measured,
      y: order,
      x: runs.map(({ speed_up }) => speed_up),
      customdata: order.map(whole),
      marker: { color: css("--hue-exit"), opacity: 0.85 },
      error_x: {
        type: "data",
        symmetric: false,
        array: runs.map(({ speed_up, interval }) => interval[1] - speed_up),
        arrayminus: runs.map(({ speed_up, interval }) => speed_up - interval[0]),
        color: css("--ink"),
        thickness: 1.5,
        width: 4,
      },
      hovertemplate: RUNS.hover,
    },
    {
      type: "scatter",
      mode: "markers",
      name: RUNS.computed,
      y: told.map(({ stack }) => stack),
      x: told.map(({ stack }) => computed.get(stack)),
      customdata: told.map(({ stack }) => whole(stack)),
      marker: { symbol: "diamond-open", size: px(11), color: css("--ink"), line: { width: 2 } },
      hovertemplate: RUNS.hover,
    },
  ];
  return {
    title: RUNS.title,
    text: RUNS.text,
    figure: runs.length
      ? {
          data,
          layout: layout(100 + 56 * runs.length, {
            showlegend: true,
            legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" },
            xaxis: { title: { text: RUNS.axis }, rangemode: "tozero" },
            yaxis: axisOf(order, (stack) => wrapped(called(stack), narrow() ? 20 : 34), {
              size: px(narrow() ? 10 : 12),
            }),
            shapes: [
              {
                type: "line",
                x0: 1,
                x1: 1,
                yref: "paper",
                y0: 0,
                y1: 1,
                line: { color: css("--muted"), width: 1, dash: "dot" },
              },
            ],
          }),
        }
      : null,
    table: {
      columns: [EXITS.stack, EXITS.code, RUNS.measured, EXITS.low, EXITS.high, RUNS.accepted, RUNS.computed],
      rows: runs.map(({ stack, speed_up, interval, accepted }) => [
        called(stack),
        stack,
        speed_up.toFixed(2),
        ...interval.map((/** @type {number} */ end) => end.toFixed(2)),
        accepted
          .slice(1)
          .map((/** @type {number|null} */ a) => a?.toFixed(2) ?? "–")
          .join(" / "),
        computed.get(stack)?.toFixed(2) ?? "–",
      ]),
    },
  };
}

/** @param {import("./by-depth.js").Study} study */
export function ratiosFigure(study) {
  const ratios = of(study, "ratio");
  const drafts = [...new Set(ratios.map(({ draft }) => draft))];
  const order = [...drafts, ...RATIOS.reported.map(([name]) => name)];
  const machines = [...new Set(ratios.map(({ machine }) => machine))];
  const data = machines.map((machine, i) => {
    const own = ratios.filter((one) => one.machine === machine);
    return {
      type: "bar",
      orientation: "h",
      name: safe(machine),
      y: own.map(({ draft }) => draft),
      x: own.map(({ ratio }) => ratio),
      customdata: own.map(({ draft }) => safe(draft)),
      marker: { color: css(HUES[i % HUES.length]), opacity: 0.85 },
      hovertemplate: RATIOS.hover,
    };
  });
  const paper = {
    type: "bar",
    orientation: "h",
    name: RATIOS.paper,
    y: RATIOS.reported.map(([name]) => name),
    base: RATIOS.reported.map(([, low, high]) => (low === high ? 0 : low)),
    x: RATIOS.reported.map(([, low, high]) => (low === high ? high : high - low)),
    customdata: RATIOS.reported.map(([name]) => name),
    marker: { color: "rgba(0,0,0,0)", line: { color: css("--ink"), width: 1.5 } },
    hoverinfo: "skip",
  };
  return {
    title: RATIOS.title,
    text: RATIOS.text,
    figure: ratios.length
      ? {
          data: [...data, paper],
          layout: layout(110 + 40 * order.length, {
            barmode: "group",
            showlegend: true,
            legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", traceorder: "normal" },
            xaxis: { title: { text: RATIOS.axis }, rangemode: "tozero" },
            yaxis: axisOf(order, safe, mono()),
          }),
        }
      : null,
    table: {
      columns: [RATIOS.draft, RATIOS.machine, RATIOS.drafted, RATIOS.verify, RATIOS.ratio],
      rows: [
        ...ratios.map(({ draft, machine, draft_ms, verify_ms, ratio }) => [
          draft,
          machine,
          draft_ms.toFixed(2),
          verify_ms.toFixed(2),
          ratio.toFixed(1),
        ]),
        ...RATIOS.reported.map(([name, low, high]) => [
          name,
          RATIOS.paper,
          "",
          "",
          low === high ? String(low) : `${low}–${high}`,
        ]),
      ],
    },
  };
}
