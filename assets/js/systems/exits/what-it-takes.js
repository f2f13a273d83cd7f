/** What two exits would need to pay: maps of computed gains, with the lines at 1 and at the paper's 1.28, and today's
 *  measured point. */

import { css, gainScale, layout, narrow, px, wrapped } from "../../shared/plots/look.js";
import { NEEDED } from "./words.js";
import { below, nearest, of } from "./by-depth.js";

/** @import {Study} from "./by-depth.js" */

const FULL = 0.6; // logarithm (base 2) of the gain at which a colour is full
const PAPER = 1.28; // over single-layer speculation, on average (arXiv 2510.01336)

/** @param {Study} study @param {"plain"|"one"} map @param {"measured"|"ideal"} costs */
export const rowsOf = (study, map, costs) =>
  of(study, "needed").filter((one) => one.map === map && one.costs === costs);

/** The measured gains of the stack of two exits that the maps stand around, over plain decoding and over the best exit
 *  alone. @param {Study} study @returns {{plain: number, one: number}|null} */
export function measuredOf(study) {
  const runs = of(study, "run");
  const today = of(study, "today")[0];
  const own = (/** @type {any} */ run) => run.accepted[1] === today?.inner && run.accepted[2] === today?.upper;
  const two = runs.find((run) => below(run.stack) === 2 && own(run));
  const alone = runs.filter((run) => below(run.stack) === 1).map(({ speed_up }) => speed_up);
  return two && alone.length ? { plain: two.speed_up, one: two.speed_up / Math.max(...alone) } : null;
}

/** @param {Study} study */
export function plainMap(study) {
  const rows = rowsOf(study, "plain", "measured");
  const today = of(study, "today")[0];
  if (!today || !rows.length) return null;
  const row = rows.reduce((a, b) => (Math.abs(b.y - today.share) < Math.abs(a.y - today.share) ? b : a));
  const from = nearest([row], 1)?.x ?? null;
  const gain = measuredOf(study)?.plain;
  return drawn(rows, {
    title: NEEDED.plain,
    text: NEEDED.plainText({ now: today.upper, from, share: today.share }),
    y: NEEDED.share,
    z: NEEDED.overPlain,
    point: gain === undefined ? null : { x: today.upper, y: today.share, text: NEEDED.today(gain, today.two) },
  });
}

/** @param {Study} study @param {"measured"|"ideal"} costs */
export function oneMap(study, costs) {
  const rows = rowsOf(study, "one", costs);
  const today = of(study, "today")[0];
  if (!today || !rows.length) return null;
  const gain = measuredOf(study)?.one;
  const told = (/** @type {number} */ level) => {
    const found = nearest(rows, level);
    return found && { upper: found.x, inner: found.y };
  };
  const ideal = costs === "ideal";
  return drawn(rows, {
    title: ideal ? NEEDED.ideal : NEEDED.one,
    text: ideal ? NEEDED.idealText(told(PAPER)) : NEEDED.oneText(told(1), told(PAPER) !== null),
    y: NEEDED.inner,
    z: NEEDED.overOne,
    point:
      ideal || gain === undefined
        ? null
        : { x: today.upper, y: today.inner, text: NEEDED.today(gain, today.two / today.one) },
  });
}

/** @param {any[]} rows @param {{title: string, text: string, y: string, z: string, point: {x: number, y: number, text: string}|null}} told */
function drawn(rows, { title, text, y, z, point }) {
  const x = rows[0].x;
  const field = {
    type: "heatmap",
    x,
    y: rows.map((row) => row.y),
    z: rows.map((row) => row.z.map((/** @type {number} */ gain) => Math.max(-FULL, Math.min(FULL, Math.log2(gain))))),
    text: rows.map((row) => row.z.map((/** @type {number} */ gain) => gain.toFixed(2))),
    zmin: -FULL,
    zmax: FULL,
    colorscale: gainScale(),
    showscale: false,
    zsmooth: false,
    hovertemplate: NEEDED.hover,
  };
  const line = (/** @type {number} */ level, /** @type {string} */ dash) => ({
    type: "contour",
    x,
    y: rows.map((row) => row.y),
    z: rows.map((row) => row.z),
    autocontour: false,
    contours: {
      start: level,
      end: level,
      size: 1,
      coloring: "none",
      showlabels: true,
      labelfont: { size: px(12), color: css("--ink") },
    },
    line: { color: css("--ink"), width: 2, dash },
    showscale: false,
    hoverinfo: "skip",
  });
  const mark = point && {
    type: "scatter",
    mode: "markers+text",
    x: [point.x],
    y: [point.y],
    text: [wrapped(point.text, narrow() ? 15 : 60)],
    textposition: narrow() ? "top right" : "top center",
    textfont: { color: css("--ink"), size: px(12) },
    marker: { size: px(12), symbol: "x", color: css("--ink") },
    hoverinfo: "skip",
  };
  const axis = { tickformat: ".0%", showgrid: false };
  return {
    title,
    text,
    figure: {
      data: [field, line(1, "solid"), line(PAPER, "dot"), ...(mark ? [mark] : [])],
      layout: layout(narrow() ? 360 : 400, {
        xaxis: { ...axis, title: { text: wrapped(NEEDED.upper, narrow() ? 28 : 60) } },
        yaxis: { ...axis, title: { text: y } },
      }),
    },
    table: {
      columns: [y, NEEDED.upper, z],
      rows: rows.flatMap((row) =>
        row.x.map((/** @type {number} */ at, /** @type {number} */ i) => [
          row.y.toFixed(2),
          at.toFixed(2),
          row.z[i].toFixed(2),
        ]),
      ),
    },
  };
}
