/** A text as a strip: a band a token, in the colour of the level that supplied it. */

import { h } from "../../../shared/kit/dom.js";

/**
 * @param {import("./lane-model.js").LaneModel} lane
 * @returns {string} a gradient of hard stops over the lane's tokens
 */
export function bands(lane) {
  const { levels } = lane.model;
  /** @type {{hue: string, from: number, to: number}[]} */
  const runs = [];
  for (let at = 0; at < lane.tokens; at++) {
    const hue = levels[lane.tokenAt(at)?.level ?? 0]?.hue ?? "var(--muted)";
    const last = runs.at(-1);
    if (last?.hue === hue) last.to = at + 1;
    else runs.push({ hue, from: at, to: at + 1 });
  }
  const place = (/** @type {number} */ at) => `${((100 * at) / lane.tokens).toFixed(3)}%`;
  return `linear-gradient(to right, ${runs.map(({ hue, from, to }) => `${hue} ${place(from)} ${place(to)}`).join(", ")})`;
}

/**
 * The track of a lane: how far it is on its way to the finish line, and whose tokens brought it there.
 * @param {import("./lane-model.js").LaneModel} lane @param {number} most tokens of the longest text @param {string} label
 */
export function track(lane, most, label) {
  const length = lane.tokens / most;
  const paint = h("i", { class: "hx-race-paint", style: { background: bands(lane) } });
  const bar = h("div", { class: "hx-race-bar" }, paint);
  const el = h(
    "div",
    {
      class: "hx-race-track",
      role: "progressbar",
      "aria-label": label,
      "aria-valuemin": "0",
      "aria-valuemax": String(lane.tokens),
      style: { "--length": String(length) },
    },
    h("div", { class: "hx-race-course" }, bar),
  );
  let shown = -1;
  return {
    el,
    /** @param {number} tokens */
    update(tokens) {
      if (tokens === shown) return;
      shown = tokens;
      const share = lane.tokens ? tokens / lane.tokens : 0;
      bar.style.width = `${100 * share}%`;
      paint.style.width = share ? `${100 / share}%` : "100%";
      el.setAttribute("aria-valuenow", String(tokens));
    },
  };
}
