/** One small chart: a title with its formula, a value, and paths over the rounds. Its places are in units of WIDTH x HEIGHT,
 *  stretched to what room there is. */

import { element, say } from "../../../shared/kit/dom.js";
import { set, svg } from "../../../shared/kit/svg.js";

export const WIDTH = 240;
export const HEIGHT = 60;
const SLOTS = 24; // rounds that a chart has room for before it becomes denser

/** @param {HTMLElement} host @param {string} title @param {string} formula */
export function chart(host, title, formula) {
  const el = host.appendChild(element("figure", "hx-chart"));
  const caption = el.appendChild(element("figcaption", "hx-chart-title", title));
  caption.tabIndex = 0;
  caption.dataset.formula = formula;
  caption.setAttribute("aria-description", formula);
  const value = el.appendChild(element("p", "hx-chart-value"));
  const plot = el.appendChild(element("div", "hx-chart-plot"));
  const top = plot.appendChild(element("span", "hx-chart-top"));
  const beside = plot.appendChild(element("span", "hx-chart-beside"));
  const root = svg(
    "svg",
    {
      class: "hx-chart-svg",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    },
    plot,
  );
  /** @type {Map<string, SVGElement>} */ const paths = new Map();
  /** @type {Record<string, string>} */ const said = {};
  return {
    el,
    plot,
    /** @param {string} text */
    name(text) {
      if (caption.textContent !== text) caption.textContent = text;
    },
    /** Draws path data under a key; what has no data is not drawn. @param {string} key @param {string} kind of path @param {string} d @param {string} [hue] */
    draw(key, kind, d, hue = "") {
      let path = paths.get(key);
      if (!path) {
        path = svg("path", { class: `hx-chart-${kind}`, "vector-effect": "non-scaling-stroke" }, root);
        paths.set(key, path);
      }
      if (hue) path.style.setProperty("--hue", hue);
      set(path, { d });
    },
    clear() {
      paths.clear();
      root.replaceChildren();
    },
    /** The value: pairs of a figure and what it is of. @param {(string|HTMLElement)[]} parts @param {string} key says whether it changed */
    value(parts, key) {
      if (said.value === key) return;
      said.value = key;
      value.replaceChildren(...parts);
    },
    /** The end of the scale. @param {string} text */
    scale(text) {
      say(top, text);
    },
    /** What the dashed line is, written below it. @param {string} text @param {number} y its height, from 0 to HEIGHT */
    beside(text, y) {
      say(beside, text);
      beside.style.setProperty("--at", (y / HEIGHT).toFixed(3));
    },
  };
}

/** The width of a round's slot among so many. @param {number} rounds */
export const slotOf = (rounds) => WIDTH / Math.max(SLOTS, rounds);

/** The height at which a share of the scale stands. @param {number} part from 0 to 1 */
export const heightOf = (part) => HEIGHT - 1 - Math.min(1, Math.max(0, part)) * (HEIGHT - 3);

/** Path data of a line through points; those that are null are left out. @param {([number, number]|null)[]} points */
export function through(points) {
  let d = "";
  let pen = "M";
  for (const point of points) {
    if (!point) continue;
    d += `${pen}${point[0].toFixed(1)} ${point[1].toFixed(1)}`;
    pen = "L";
  }
  return d.includes("L") ? d : d && `${d}h0.01`;
}
