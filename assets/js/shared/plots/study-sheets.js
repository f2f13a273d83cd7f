/** Studies on the Results tab: fetched once, their figures drawn when they come into sight, and again in another theme
 *  or size. */

import { h } from "../kit/dom.js";
import { Plot } from "./plots.js";

const SETTLE_MS = 250; // a window that is being dragged is not redrawn

/**
 * @typedef {{title: string, text: string, figure: any, table: any}} Shown
 */

/**
 * @param {import("../../systems/index.js").StudyKind} of
 * @param {{url: string, plotly: string, presets: {name: string, title: string}[]}} from where the studies and plotly's
 *   script are
 * @returns {HTMLElement}
 */
export function studySheets({ words, figures }, { url, plotly, presets }) {
  const { title, unreachable, command } = words;
  /** @type {{plot: Plot, make: () => Shown|null}[]} */ const plots = [];
  const el = h("section", { class: "hx-res-study", "aria-label": title });
  const draw = () => {
    for (const { plot, make } of plots) plot.show(/** @type {Shown} */ (make()));
  };
  const sheet = (/** @type {any} */ study) => {
    const { about } = study;
    const label = presets.find(({ name }) => name === about.preset)?.title ?? about.preset;
    const lead = words.lead(label, { ...about, day: about.recorded.slice(0, 10) }, study);
    const made = figures(study).flatMap(([name, make]) => {
      const first = make();
      if (!first?.figure) return [];
      const plot = new Plot(name, { url: plotly, label: `${label}: ${first.title}` });
      plots.push({ plot, make });
      return [plot.el];
    });
    return [
      h("p", { class: "hx-plan-text", text: lead }),
      h("div", { class: "hx-res-study-grid" }, ...made),
      h("p", { class: "hx-plan-text" }, `${command}: `, h("code", { text: about.command })),
    ];
  };
  fetch(url)
    .then((reply) => (reply.ok ? reply.json() : Promise.reject(new Error(String(reply.status)))))
    .then(({ studies }) => {
      el.replaceChildren(...studies.flatMap(sheet));
      draw();
    })
    .catch(() => {
      el.replaceChildren(h("p", { class: "hx-plan-fault", role: "alert", text: unreachable }));
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
