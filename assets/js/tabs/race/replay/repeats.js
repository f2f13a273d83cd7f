/** A lane's speed-up in every repeat, as dots on one line, and the interval over all of them. */

import { h } from "../../../shared/kit/dom.js";
import { svg } from "../../../shared/kit/svg.js";
import { gainText, WORDS } from "../words/race.js";

const WIDE = 120;
const HIGH = 16;

/** Each repeat's speed-up over the first lane. @param {any[][]} repeats @param {number} lane */
export function gains(repeats, lane) {
  const rate = (/** @type {any} */ took) => took.tokens / took.decode_ns;
  return repeats.map((took) => rate(took[lane]) / rate(took[0]));
}

/** @param {any[][]} repeats what each lane took, repeat by repeat @param {number} lane */
export function dots(repeats, lane) {
  const all = repeats.map((_, i) => i);
  const everyone = repeats[0].flatMap((_, i) => (i ? gains(repeats, i) : []));
  const low = Math.min(1, ...everyone);
  const high = Math.max(1, ...everyone);
  const x = (/** @type {number} */ value) => 6 + ((value - low) / Math.max(0.05, high - low)) * (WIDE - 12);
  const own = gains(repeats, lane);
  const said = own.map(gainText).join(", ");
  const plot = svg("svg", {
    class: "hx-race-dots",
    viewBox: `0 0 ${WIDE} ${HIGH}`,
    role: "img",
    "aria-label": `${WORDS.repeats}: ${said}`,
  });
  svg("line", { x1: x(1), x2: x(1), y1: 1, y2: HIGH - 1, class: "hx-race-one" }, plot);
  for (const i of all) svg("circle", { cx: x(own[i]).toFixed(1), cy: HIGH / 2, r: 3, class: "hx-race-dot" }, plot);
  return h("span", { class: "hx-race-repeats", "data-tip": `${WORDS.repeats}: ${said}` }, plot);
}
