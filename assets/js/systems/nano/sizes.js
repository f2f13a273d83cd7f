/** Drafts of other sizes, trained on the same tokens: acceptance over the weights that a drafted token reads. */

import { css, layout, narrow, px, wrapped } from "../../shared/plots/look.js";
import { SCALING, SIZES } from "./words.js";
import { GATES, bars, between, listed } from "./readings.js";

/** The share of the tokens that most sizes were trained on. @param {any[]} trainings @returns {any[]} smallest first */
export function sameTokens(trainings) {
  const having = (/** @type {number} */ share) => trainings.filter((one) => one.share === share);
  const most = trainings.map(({ share }) => having(share)).reduce((a, b) => (b.length > a.length ? b : a), []);
  return most.sort((a, b) => a.weights - b.weights);
}

/** @param {import("./readings.js").Sweep} sweep @param {string} texts */
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
