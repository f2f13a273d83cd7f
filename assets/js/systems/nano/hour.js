/** What another hour of training would buy: tokens/s by the recursion, predicted now and then. */

import { stackNames } from "../../shared/levels/stack-names.js";
import { css, layout, narrow, safe, wrapped } from "../../shared/plots/look.js";
import { HOUR, SCALING } from "./words.js";
import { bars, between, listed } from "./readings.js";

/** @type {{when: "now"|"then", hue: string}[]} */
const WHEN = [
  { when: "now", hue: "--hue-ngram" },
  { when: "then", hue: "--hue-nano" },
];

/** @param {import("./readings.js").Sweep} sweep */
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
