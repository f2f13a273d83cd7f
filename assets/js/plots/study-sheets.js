/** Studies on the Results tab: fetched once, their figures drawn when they come into sight, and again in another theme
 *  or size. */

import { h } from "../kit/dom.js";
import { Plot } from "./plots.js";

const SETTLE_MS = 250; // a window that is being dragged is not redrawn

/**
 * @typedef {{title: string, text: string, figure: any, table: any}} Shown
 * @typedef {{label: string, lead: string, command: string, figures: [string, () => Shown|null][]}} Sheet a study: what
 *   it is in words, how it was made, and the name and maker of each figure, which makes nothing where there is none
 */

/**
 * @param {{url: string, plotly: string, title: string, unreachable: string, command: string}} told what is fetched,
 *   where plotly's script is, and words
 * @param {(reply: any) => Sheet[]} sheetsOf what the reply holds
 * @returns {HTMLElement}
 */
export function studySheets({ url, plotly, title, unreachable, command }, sheetsOf) {
  /** @type {{plot: Plot, make: () => Shown|null}[]} */ const plots = [];
  const el = h("section", { class: "hx-res-study", "aria-label": title });
  const draw = () => {
    for (const { plot, make } of plots) plot.show(/** @type {Shown} */ (make()));
  };
  const sheet = (/** @type {Sheet} */ one) => {
    const made = one.figures.flatMap(([name, make]) => {
      const first = make();
      if (!first?.figure) return [];
      const plot = new Plot(name, { url: plotly, label: `${one.label}: ${first.title}` });
      plots.push({ plot, make });
      return [plot.el];
    });
    return [
      h("p", { class: "hx-plan-text", text: one.lead }),
      h("div", { class: "hx-res-study-grid" }, ...made),
      h("p", { class: "hx-plan-text" }, `${command}: `, h("code", { text: one.command })),
    ];
  };
  fetch(url)
    .then((reply) => (reply.ok ? reply.json() : Promise.reject(new Error(String(reply.status)))))
    .then((reply) => {
      el.replaceChildren(...sheetsOf(reply).flatMap(sheet));
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
