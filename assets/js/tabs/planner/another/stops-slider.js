/** A slider over a list of numbers. */

import { h, say } from "../../../shared/kit/dom.js";

/** @param {(place: number) => void} onTurn */
export function stopsSlider(onTurn) {
  const label = h("span", {});
  const out = h("output", { class: "hx-plan-value" });
  const input = /** @type {HTMLInputElement} */ (
    h("input", { type: "range", min: "0", max: "1", step: "1", oninput: () => onTurn(Number(input.value)) })
  );
  const el = h("div", { class: "hx-plan-slider" }, h("div", { class: "hx-plan-slider-head" }, label, out), input);
  return {
    el,
    /** @param {string} text */
    name(text) {
      say(label, text);
      input.setAttribute("aria-label", text);
    },
    /** @param {readonly number[]} stops @param {number} value @param {(value: number) => string} words */
    stand(stops, value, words) {
      const place = nearestStop(stops, value);
      input.max = String(stops.length - 1);
      input.value = String(place);
      input.setAttribute("aria-valuetext", words(stops[place]));
      say(out, words(stops[place]));
    },
  };
}

/** The place of the nearest of them. @param {readonly number[]} stops @param {number} value */
export const nearestStop = (stops, value) =>
  stops.reduce((a, x, i) => (Math.abs(x - value) < Math.abs(stops[a] - value) ? i : a), 0);
