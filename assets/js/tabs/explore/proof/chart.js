/** One rule's histogram: a bar for each symbol, p as a line across it, and how far what it fills towards is from p. */

import { h } from "../../../shared/kit/dom.js";
import { distance } from "../../../shared/run/distributions.js";
import { limit } from "./draws.js";
import { DRAWS } from "../../../../text/en/proof.js";

const SHOWN = 8; // symbols

/**
 * @typedef {{text: string, places: number[]}} Group symbols that one bar stands for
 * @typedef {{bar: HTMLElement, value: HTMLElement, place: number[], rule: import("./draws.js").Rule}} Bar
 */

/**
 * The symbols that are shown, falling by p: the likeliest, and the rest as one.
 * @param {import("./draws.js").Pair} pair @param {(id: number|null) => string} text
 * @returns {Group[]}
 */
export function groups(pair, text) {
  const by = pair.ids
    .map((id, i) => ({ id, i, weight: id === null ? -1 : Math.max(pair.p[i], pair.q[i]) }))
    .sort((a, b) => b.weight - a.weight);
  const own = by.slice(0, SHOWN - 1).filter((x) => x.id !== null);
  const rest = by.filter((x) => !own.includes(x)).map((x) => x.i);
  const lines = own.sort((a, b) => pair.p[b.i] - pair.p[a.i]).map((x) => ({ text: text(x.id), places: [x.i] }));
  return rest.length ? [...lines, { text: text(null), places: rest }] : lines;
}

/**
 * @param {import("./draws.js").Rule} rule @param {import("./draws.js").Pair} pair @param {Group[]} order
 * @param {string} hue of the verifier
 * @returns {{el: HTMLElement, cells: Bar[], off: HTMLElement}}
 */
export function chart(rule, pair, order, hue) {
  const { name, tip } = DRAWS.rules[rule];
  const dist = limit(pair, rule);
  const far = distance(dist, pair.p);
  const off = h("b", { class: "hx-proof-off", tabindex: "0", "data-tip": DRAWS.offTip });
  const list = h("ol", { class: "hx-proof-list" });
  const cells = order.map(({ text, places }) => {
    const p = places.reduce((sum, i) => sum + pair.p[i], 0);
    const bar = h("span", { class: "hx-proof-bar-line", style: { "--p": String(p) } }, h("i"), h("em"), h("u"));
    const value = h("span", { class: "hx-proof-share" });
    list.append(h("li", {}, h("span", { class: "hx-proof-token", text }), bar, value));
    return { bar, value, place: places, rule };
  });
  const el = h(
    "section",
    {
      class: `hx-proof-chart hx-proof-${rule}`,
      "aria-label": name,
      style: { "--hue": rule === "right" ? hue : "var(--hue-reject)" },
    },
    h("h3", {}, h("span", { text: name })),
    h("p", { class: "hx-an-note", text: tip }),
    list,
    h(
      "p",
      { class: "hx-proof-figures" },
      off,
      h("span", { class: "hx-an-muted", text: far < 1e-9 ? DRAWS.exact : DRAWS.fills(far) }),
    ),
  );
  return { el, cells, off };
}
