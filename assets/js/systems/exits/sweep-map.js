/** HiSpec's figure 5: the sweep of the draft exit and of the exit above it, as a field of colours around 1. */

import { gainScale, layout, narrow } from "../../shared/plots/look.js";
import { EXITS, SWEEP } from "./words.js";
import { of } from "./study-data.js";

const FULL = 0.8; // logarithm (base 2) of the speed-up at which a colour is full

const tint = (/** @type {number|null} */ gain) =>
  gain === null ? null : Math.max(-FULL, Math.min(FULL, Math.log2(gain)));
const best = (/** @type {any[]} */ some) => some.reduce((a, b) => (a && a.speed_up >= b.speed_up ? a : b), null);

/** @param {import("./study-data.js").Study} study */
export function sweepFigure(study) {
  const stacks = of(study, "stack");
  const x = [...new Set(stacks.map(({ draft }) => draft))].sort((a, b) => a - b);
  const above = [...new Set(stacks.map((one) => one.above))].sort((a, b) => (a ?? 0) - (b ?? 0));
  const y = above.map((at) => (at === null ? EXITS.none : String(at)));
  const found = new Map(stacks.map((one) => [`${one.draft} ${one.above}`, one.speed_up]));
  const gains = above.map((at) => x.map((draft) => found.get(`${draft} ${at}`) ?? null));
  const said = (/** @type {number|null} */ gain) => (gain === null ? "" : gain.toFixed(2));
  const [one, pair] = [best(stacks.filter((s) => s.above === null)), best(stacks.filter((s) => s.above !== null))];
  return {
    title: SWEEP.title,
    text: one ? SWEEP.text({ ...one, gain: said(one.speed_up) }, pair && { ...pair, gain: said(pair.speed_up) }) : "",
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
