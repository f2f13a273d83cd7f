/** Early exits on the Results tab: HiSpec's figures from the bundled studies, drawn when they come into sight. */

import { h } from "../../kit/dom.js";
import { Plot } from "../../plots/plots.js";
import { EXITS } from "../../words/tabs/exits.js";
import { depthFigure, quarterFigure } from "./by-depth.js";
import { ratiosFigure, runsFigure } from "./clock.js";
import { sweepFigure } from "./sweep-map.js";
import { oneMap, plainMap } from "./what-it-takes.js";

const SETTLE_MS = 250; // a window that is being dragged is not redrawn

/** Name and maker of each figure, in the order of the page. @type {[string, (study: import("./study-data.js").Study) => any][]} */
const FIGURES = [
  ["exit-depths", depthFigure],
  ["exit-quarter", quarterFigure],
  ["exit-runs", runsFigure],
  ["exit-ratios", ratiosFigure],
  ["exit-sweep", sweepFigure],
  ["exit-plain", plainMap],
  ["exit-one", (study) => oneMap(study, "measured")],
  ["exit-ideal", (study) => oneMap(study, "ideal")],
];

/**
 * @param {{exits: string, plotly: string, presets: {name: string, title: string}[]}} setup @param {string} base
 * @returns {HTMLElement}
 */
export function earlyExits(setup, base) {
  /** @type {{plot: Plot, figure: () => any}[]} */ const plots = [];
  const el = h("section", { class: "hx-res-exits", "aria-label": EXITS.title });
  const draw = () => {
    for (const { plot, figure } of plots) plot.show(figure());
  };
  const show = (/** @type {import("./study-data.js").Study[]} */ studies) => {
    plots.length = 0;
    el.replaceChildren(...studies.flatMap(sheet));
    draw();
  };
  const sheet = (/** @type {import("./study-data.js").Study} */ study) => {
    const { about } = study;
    const title = setup.presets.find(({ name }) => name === about.preset)?.title ?? about.preset;
    const made = FIGURES.flatMap(([name, make]) => {
      const first = make(study);
      if (!first?.figure) return [];
      const plot = new Plot(name, { url: base + setup.plotly, label: `${title}: ${first.title}` });
      plots.push({ plot, figure: () => make(study) });
      return [plot.el];
    });
    return [
      h("p", { class: "hx-plan-text", text: EXITS.lead(title, { ...about, day: about.recorded.slice(0, 10) }) }),
      h("div", { class: "hx-res-exit-grid" }, ...made),
      h("p", { class: "hx-plan-text" }, `${EXITS.command}: `, h("code", { text: about.command })),
    ];
  };
  fetch(base + setup.exits)
    .then((reply) => (reply.ok ? reply.json() : Promise.reject(new Error(String(reply.status)))))
    .then(({ studies }) => show(studies))
    .catch(() => {
      el.replaceChildren(h("p", { class: "hx-plan-fault", role: "alert", text: EXITS.unreachable }));
    });
  new MutationObserver(draw).observe(document.body, { attributeFilter: ["class"] });
  let settling = 0;
  let width = innerWidth;
  addEventListener("resize", () => {
    clearTimeout(settling);
    settling = setTimeout(() => {
      if (width !== innerWidth) draw();
      width = innerWidth;
    }, SETTLE_MS);
  });
  return el;
}
