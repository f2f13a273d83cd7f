/** One small chart: a title with its formula, a value, and paths over the rounds. Its places are in units of WIDTH x HEIGHT,
 *  stretched to what room there is. */

import { element, say } from "../../../shared/kit/dom.js";
import { upTo } from "../../../shared/kit/order.js";
import { set, svg } from "../../../shared/kit/svg.js";
import { plainSpeed } from "../../../shared/run/figures.js";

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
    "svg.hx-chart-svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" },
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

// ---- What the live charts draw: one entry for each round that was over at a moment of the run. Pure functions of (model, cursor);
// every figure is the server's own (snapshots and gauges) or a time of the trace.

/** `accepted` and `judged`: tokens of its drafter in this round; `mean`: the share accepted in the run up to its end.
 *  @typedef {{level: number, accepted: number, judged: number, mean: number|null}} Accepted
 *  `byLevel`: ns. `speed`: committed tokens / decode time so far. `tokens`: committed in this round. `mean`: tokens a pass so far.
 *  @typedef {{round: number, t1: number, byLevel: number[], ns: number, tokens: number, speed: number|null, mean: number|null,
 *    accepted: Accepted[]}} Entry */

/** The rounds that had committed something and were over at the cursor, at most the last `most` of them.
 *  @param {import("../../../shared/run/trace.js").TraceModel} model @param {number} cursor ns @param {number} most
 *  @returns {Entry[]} */
export function entriesOf(model, cursor, most) {
  const { rounds, levels, figures } = model;
  const over = [];
  for (let i = upTo(rounds, cursor, (r) => r.t0) - 1; i >= 0 && over.length < most; i--)
    if (rounds[i].tokens > 0 && rounds[i].t1 <= cursor) over.push(rounds[i]);
  over.reverse();
  const verifiers = levels.filter((level) => level.index > 0).map((level) => level.index);
  /** @type {Map<number, any>} */ const before = new Map();
  const first = over[0];
  if (first) for (const level of verifiers) before.set(level, figures.of(first.t0, level));
  return over.map((r) => {
    const snapshot = model.snapshotAt(r.t1);
    const byLevel = levels.map((_, i) => r.byLevel[i] || 0);
    const accepted = verifiers.map((level) => {
      const [was, is] = [before.get(level), figures.of(r.t1, level)];
      before.set(level, is);
      return {
        level,
        accepted: (is?.accepted ?? 0) - (was?.accepted ?? 0),
        judged: (is?.judged ?? 0) - (was?.judged ?? 0),
        mean: is?.acceptance ?? null,
      };
    });
    return {
      round: r.round,
      t1: r.t1,
      byLevel,
      ns: byLevel.reduce((sum, ns) => sum + ns, 0),
      tokens: r.tokens,
      speed: snapshot?.tokens_per_s ?? null,
      mean: snapshot?.tokens_per_target_forward ?? null,
      accepted,
    };
  });
}

/** Tokens/s of plain decoding of the same prompt, or null. @param {import("../../../shared/run/trace.js").TraceModel} model */
export const plainOf = (model) => plainSpeed(model.baseline);
