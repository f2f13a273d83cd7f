/** The picture of a diagnosis: gain over plain decoding by draft length, with what 95 % of the counts allow; where plain
 *  decoding is not known, ms of a token. */

import { svg } from "../../../shared/kit/svg.js";
import { DOCTOR } from "../../../../text/en/doctor.js";

/** @typedef {{k: number, ms: number, tokens: number, speed_up: number|null, low: number|null, high: number|null, assumed: boolean}} Point */

const PAD = { left: 52, right: 20, top: 28, bottom: 44 };

/** Whether the curve is of gains; else of ms. @param {Point[]} curve */
export const ofGains = (curve) => curve.every(({ speed_up }) => speed_up !== null);

/** @param {Point} point @param {boolean} gains */
const value = (point, gains) => (gains ? (point.speed_up ?? 0) : point.ms);

/** Round steps between which a range of values lies. @param {number} low @param {number} high */
export function steps(low, high) {
  const size = (high - low) / 4 || 1;
  const power = 10 ** Math.floor(Math.log10(size));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= size) ?? size;
  const first = Math.floor(low / step + 1e-9);
  const last = Math.ceil(high / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(6)));
}

/** @param {Element} root an svg element, emptied first
 *  @param {Point[]} curve @param {{best: number, now: number|null, at: number|null}} marks draft lengths
 *  @param {number} wide @param {number} high */
export function drawGain(root, curve, { best, now, at }, wide, high) {
  const gains = ofGains(curve);
  const all = curve.flatMap((point) => [value(point, gains), ...(gains ? [point.low, point.high] : [])]);
  const known = all.filter((one) => one !== null);
  const ticks = steps(Math.min(...known, ...(gains ? [1] : [])), Math.max(...known, ...(gains ? [1] : [])));
  const [low, top] = [ticks[0], ticks[ticks.length - 1]];
  const [first, last] = [curve[0].k, curve[curve.length - 1].k];
  const x = (/** @type {number} */ k) =>
    PAD.left + ((k - first) / Math.max(1, last - first)) * (wide - PAD.left - PAD.right);
  const floor = high - PAD.bottom;
  const y = (/** @type {number} */ v) => floor - ((v - low) / (top - low)) * (floor - PAD.top);
  const text = (/** @type {number} */ a, /** @type {number} */ b, /** @type {string} */ said, more = {}) => {
    svg("text", { x: a, y: b, ...more }, root).textContent = said;
  };
  root.replaceChildren();
  root.setAttribute("viewBox", `0 0 ${wide} ${high}`);
  for (const tick of ticks) {
    const one = gains && tick === 1;
    svg("path", { d: `M${PAD.left} ${y(tick)}H${wide - PAD.right}`, class: one ? "hx-doc-one" : "hx-doc-grid" }, root);
    text(PAD.left - 8, y(tick) + 4, gains ? DOCTOR.times(tick) : String(tick), { "text-anchor": "end" });
  }
  for (const { k } of curve) text(x(k), floor + 18, String(k), { "text-anchor": "middle" });
  text((PAD.left + wide - PAD.right) / 2, high - 6, DOCTOR.axis, { "text-anchor": "middle" });
  const line = (/** @type {[number, number][]} */ points) =>
    points.map(([a, b], i) => `${i ? "L" : "M"}${a.toFixed(1)} ${b.toFixed(1)}`).join("");
  const spread = curve.filter((point) => point.low !== null && point.high !== null);
  if (gains && spread.length > 1) {
    const [up, down] = [/** @type {const} */ ("high"), /** @type {const} */ ("low")].map((end) =>
      spread.map((point) => /** @type {[number, number]} */ ([x(point.k), y(point[end] ?? 0)])),
    );
    svg("path.hx-doc-spread", { d: `${line([...up, ...down.reverse()])}z` }, root);
  }
  const places = (/** @type {Point[]} */ points) =>
    points.map((point) => /** @type {[number, number]} */ ([x(point.k), y(value(point, gains))]));
  const run = curve.filter(({ assumed }) => !assumed);
  const beyond = curve.filter((point, i) => point.assumed || curve[i + 1]?.assumed);
  svg("path.hx-doc-line", { d: line(places(run)) }, root);
  if (beyond.length > 1) svg("path.hx-doc-line.hx-doc-assumed", { d: line(places(beyond)) }, root);
  for (const point of curve) svg("circle.hx-doc-dot", { cx: x(point.k), cy: y(value(point, gains)), r: 3.5 }, root);
  /** @param {number|null} k @param {string} name @param {string} said @param {number} rise */
  const mark = (k, name, said, rise) => {
    const point = curve.find((one) => one.k === k);
    if (!point) return;
    const [a, b] = [x(point.k), y(value(point, gains))];
    svg("circle", { cx: a, cy: b, r: 7, class: name }, root);
    const end = a > wide - 90 ? "end" : a < PAD.left + 40 ? "start" : "middle";
    if (said) text(a, b + rise, said, { "text-anchor": end, class: "hx-doc-mark" });
  };
  mark(now, "hx-doc-now", now === best || now === null ? "" : DOCTOR.now(now), 24);
  mark(best, "hx-doc-best", DOCTOR.best(best), -14);
  mark(at, "hx-doc-at", "", 0);
}

/** A length in a sentence. @param {Point} point @param {boolean} gains */
export function readLength(point, gains) {
  const spread =
    gains && point.low !== null && point.high !== null
      ? DOCTOR.spread(DOCTOR.times(point.low), DOCTOR.times(point.high))
      : "";
  return DOCTOR.read(point.k, gains ? DOCTOR.times(point.speed_up ?? 0) : DOCTOR.ms(point.ms), spread, point.assumed);
}
