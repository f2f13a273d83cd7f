/** The studies of exits as HiSpec draws them: what each depth agrees with, how much of what a quarter of the layers
 *  lets through is kept (figure 4), and the sweep of two exits (figure 5). */

import { css, layout, narrow, px, safe, gainScale } from "../../shared/plots/look.js";
import { BY_DEPTH, EXITS, GRID, QUARTER, SWEEP } from "./words.js";

const PAPER = 0.69; // arXiv 2510.01336, figure 4

/** @param {Study} study */
export function depthFigure(study) {
  const readings = of(study, "reading");
  const lens = readings.filter(({ readout }) => readout === "lens");
  const trained = readings.filter(({ readout }) => readout !== "lens");
  const quarter = quarterOf(study);
  const here = (/** @type {any[]} */ some) => some.filter(({ at }) => at === quarter).map(({ agree }) => agree);
  const best = Math.max(0, ...here(trained));
  const errors = (/** @type {any[]} */ some) => ({
    type: "data",
    symmetric: false,
    array: some.map((one) => one.agree_interval[1] - one.agree),
    arrayminus: some.map((one) => one.agree - one.agree_interval[0]),
    color: css("--muted"),
    thickness: 1,
    width: 3,
  });
  const points = (/** @type {any[]} */ some, /** @type {string} */ name, /** @type {object} */ more) => ({
    type: "scatter",
    name,
    x: some.map(({ at }) => at),
    y: some.map(({ agree }) => agree),
    error_y: errors(some),
    hovertemplate: BY_DEPTH.hover,
    ...more,
  });
  const marks = [css("--hue-exit"), css("--mark"), css("--accent"), css("--muted"), css("--hue-target")];
  const shapes = ["circle", "square", "triangle-up", "star", "pentagon"]; // one hue is the line's: a dot is known by its shape
  const data = [
    points(lens, EXITS.lens, {
      mode: "lines+markers",
      line: { color: css("--hue-target"), width: 2 },
      marker: { size: px(5) },
    }),
    ...trained.map((one, i) =>
      points([one], safe(one.readout), {
        mode: "markers",
        marker: { size: px(10), color: marks[i % marks.length], symbol: shapes[i % shapes.length] },
      }),
    ),
    {
      type: "scatter",
      name: BY_DEPTH.paper,
      x: [study.about.layers / 4],
      y: [PAPER],
      mode: "markers",
      marker: { size: px(12), symbol: "diamond-open", color: css("--ink"), line: { width: 2 } },
      hovertemplate: BY_DEPTH.hover,
    },
  ];
  return {
    title: BY_DEPTH.title,
    text: BY_DEPTH.text(quarter, here(lens)[0] ?? 0, best ? BY_DEPTH.trained(best) : ""),
    figure: {
      data,
      layout: layout(narrow() ? 420 : 380, {
        showlegend: true,
        legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" },
        xaxis: { title: { text: BY_DEPTH.axis }, range: [-0.5, study.about.layers + 0.5] },
        yaxis: { title: { text: BY_DEPTH.share }, tickformat: ".0%", range: [0, 1.02] },
        shapes: [
          {
            type: "line",
            x0: study.about.layers / 4,
            x1: study.about.layers / 4,
            y0: 0,
            y1: 1,
            line: { dash: "dot", color: css("--muted"), width: 1 },
          },
        ],
      }),
    },
    table: {
      columns: [EXITS.layers, EXITS.readout, BY_DEPTH.agrees, EXITS.low, EXITS.high],
      rows: [
        ...[...lens, ...trained].map(({ at, readout, agree, agree_interval }) => [
          at,
          readout === "lens" ? EXITS.lens : readout,
          agree.toFixed(3),
          ...agree_interval.map((/** @type {number} */ end) => end.toFixed(3)),
        ]),
        [study.about.layers / 4, BY_DEPTH.paper, PAPER.toFixed(3), "", ""],
      ],
    },
  };
}

/** Of the pairs whose verifier was trained, else all. @param {Study} study */
export function quarterFigure(study) {
  const all = of(study, "pair").filter(({ kept }) => kept !== null);
  const checked = all.filter(({ verifier }) => verifier[1] !== "lens" && !verifier[1].endsWith("-fed"));
  const pairs = (checked.length ? checked : all).filter(({ draft }) => !checked.length || draft[1] !== "lens");
  const at = quarterOf(study);
  const order = pairs.map(({ draft }) => safe(named(draft, EXITS.lens)));
  const bars = (/** @type {string} */ key, /** @type {string} */ name, /** @type {string} */ hue) => ({
    type: "bar",
    orientation: "h",
    name,
    y: order,
    x: pairs.map((one) => one[key]),
    marker: { color: css(hue), opacity: 0.85 },
    hovertemplate: QUARTER.hover,
  });
  return {
    title: QUARTER.title,
    text: QUARTER.text(at),
    figure: {
      data: [bars("accepts", QUARTER.accepts(at), "--hue-exit"), bars("kept", QUARTER.kept, "--hue-target")],
      layout: layout(90 + 44 * pairs.length, {
        barmode: "group",
        showlegend: true,
        legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", traceorder: "normal" },
        xaxis: { tickformat: ".0%", range: [0, 1] },
        yaxis: { type: "category", autorange: "reversed" },
      }),
    },
    table: {
      columns: [QUARTER.drafter, QUARTER.accepts(at), QUARTER.kept],
      rows: pairs.map((one, i) => [order[i], one.accepts.toFixed(3), one.kept.toFixed(3)]),
    },
  };
}

// HiSpec's figure 5: the sweep of the draft exit and of the exit above it, as a field of colours around 1.

const FULL = 0.8; // logarithm (base 2) of the speed-up at which a colour is full

const tint = (/** @type {number|null} */ gain) =>
  gain === null ? null : Math.max(-FULL, Math.min(FULL, Math.log2(gain)));
const best = (/** @type {any[]} */ some) => some.reduce((a, b) => (a && a.speed_up >= b.speed_up ? a : b), null);

const said = (/** @type {number|null} */ gain) => (gain === null ? "" : gain.toFixed(2));

/** @param {Study} study */
export function sweepFigure(study) {
  const stacks = of(study, "stack");
  const [one, pair] = [best(stacks.filter((s) => s.above === null)), best(stacks.filter((s) => s.above !== null))];
  const text = one
    ? SWEEP.text({ ...one, gain: said(one.speed_up) }, pair && { ...pair, gain: said(pair.speed_up) })
    : "";
  return field(SWEEP.title, text, stacks);
}

/** The same from runs, where stacks of two exits were run at several depths. @param {Study} study */
export function gridFigure(study) {
  const stacks = of(study, "run").flatMap(({ stack, speed_up, prompts }) => {
    const exits = [...stack.matchAll(/exit:(\d+)@at=(\d+)(?!\d)/g)].map((one) => one.slice(1).map(Number));
    const whole = exits.length === stack.split(",").length - 1 && exits.length < 3 && !stack.includes("@policy");
    const [[block, draft], [wide = 0, above = null] = []] = exits.length ? exits : [[0, 0]];
    return whole ? [{ draft, above, speed_up, prompts, blocks: above ? [block, wide] : [block] }] : [];
  });
  const pairs = stacks.filter(({ above }) => above !== null);
  if (new Set(pairs.map(({ draft, above }) => `${draft} ${above}`)).size < 4) return null;
  const pair = best(pairs);
  return field(GRID.title, GRID.text({ ...pair, gain: said(pair.speed_up) }), stacks);
}

/** @param {string} title @param {string} text
 *  @param {{draft: number, above: number|null, speed_up: number, blocks: number[]}[]} stacks */
function field(title, text, stacks) {
  const x = [...new Set(stacks.map(({ draft }) => draft))].sort((a, b) => a - b);
  const above = [...new Set(stacks.map((one) => one.above))].sort((a, b) => (a ?? 0) - (b ?? 0));
  const y = above.map((at) => (at === null ? EXITS.none : String(at)));
  const found = new Map(stacks.map((one) => [`${one.draft} ${one.above}`, one.speed_up]));
  const gains = above.map((at) => x.map((draft) => found.get(`${draft} ${at}`) ?? null));
  return {
    title,
    text,
    figure: {
      data: [
        {
          type: "heatmap",
          x: x.map(String),
          y,
          z: gains.map((row) => row.map(tint)),
          text: gains.map((row) => row.map(said)),
          zmin: -FULL,
          zmax: FULL,
          colorscale: gainScale(),
          showscale: false,
          xgap: 1,
          ygap: 1,
          hoverongaps: false,
          hovertemplate: SWEEP.hover,
        },
      ],
      layout: layout(narrow() ? 400 : 460, {
        xaxis: { type: "category", title: { text: SWEEP.x }, showgrid: false, nticks: 10 },
        yaxis: { type: "category", title: { text: SWEEP.y }, showgrid: false, nticks: 10 },
      }),
    },
    table: {
      columns: [SWEEP.x, SWEEP.y, SWEEP.gain, SWEEP.blocks],
      rows: stacks.map(({ draft, above: at, speed_up, blocks }) => [
        draft,
        at ?? EXITS.none,
        said(speed_up),
        blocks.join(", "),
      ]),
    },
  };
}

// What a study of exits holds, as its figures ask for it.

/** @typedef {{id: string, about: any, records: any[]}} Study */

/** @param {Study} study @param {string} what @returns {any[]} */
export const of = (study, what) => study.records.filter((one) => one.what === what);

/** Who stands behind a read-out of a record: [layers, name]. @param {[number, string]} pair @param {string} lens */
export const named = ([at, name], lens) => (name === "lens" ? `${lens}, ${at}` : name);

/** The quarter that its pairs were checked at. @param {Study} study */
const quarterOf = (study) => of(study, "pair")[0]?.verifier[0] ?? Math.ceil(study.about.layers / 4);

/** The first row at which a map reaches a level for the smallest x, and that x; null where none does.
 *  @param {any[]} rows @param {number} level @returns {{x: number, y: number}|null} */
export function nearest(rows, level) {
  const found = rows.flatMap(({ y, x, z }) => {
    const at = z.findIndex((/** @type {number} */ value) => value >= level);
    return at < 0 ? [] : [{ x: x[at], y }];
  });
  return found.sort((a, b) => a.x - b.x || a.y - b.y)[0] ?? null;
}

/** How many levels a stack has below its target. @param {string} stack */
export const below = (stack) => stack.split(",").length - 1;
