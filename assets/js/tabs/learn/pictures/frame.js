/** What all pictures of lessons are made of: the frame with its room and its words, and a slider with its figure. */

import { h, say } from "../../../shared/kit/dom.js";
import { set, svg } from "../../../shared/kit/svg.js";

/** @import {TraceModel} from "../../../shared/run/trace.js"
 *  @import {Drawn, Sources, Step} from "../figures/run-figures.js" */

/** What a picture may know. `sources`: figures; `open`: whether the step's question is unanswered; `hides`: what it asks
 *  about and no picture tells until then; `fresh`: whether it was answered just now.
 *  @typedef {{step: Step, figure: Drawn, model: TraceModel, open: boolean, hides: string[],
 *    fresh: boolean, sources: () => Sources}} PictureContext
 *  @typedef {{el: HTMLElement, end?: () => void}} Picture end: stops what moves */

/** A figure whose caption is also its text alternative, spoken when it changes.
 *  @param {string} kind @param {string} label @param {Node[]} room @param {Node[]} [below] controls */
export function frame(kind, label, room, below = []) {
  const caption = h("p.hx-sketch-says", { "aria-live": "polite" });
  const el = h("figure.hx-sketch", { "data-kind": kind, role: "group", "aria-label": label }, [
    h("div.hx-sketch-room", room),
    h("figcaption.hx-sketch-foot", [below, caption]),
  ]);
  return { el, caption, tell: (/** @type {string} */ text) => say(caption, text) };
}

/** @typedef {{label: string, text: (value: number) => string, min: number, max: number, step: number}} SliderRange */

/** A slider for each figure that a picture is drawn from, in the order of the ranges; it is written back when it moves.
 *  @param {Record<string, number>} now the figures @param {Record<string, SliderRange>} ranges
 *  @param {boolean} locked until the question is answered @param {() => void} onTurn */
export function sliders(now, ranges, locked, onTurn) {
  const each = Object.entries(ranges).map(([name, range]) => {
    const onInput = (/** @type {number} */ value) => {
      now[name] = value;
      onTurn();
    };
    return slider({ ...range, value: now[name], locked, onInput });
  });
  return h("div.hx-sketch-sliders", each);
}

/** @param {SliderRange & {value: number, locked: boolean, onInput: (value: number) => void}} ask locked: until the
 *    question is answered */
export function slider({ label, min, max, step, value, text, locked, onInput }) {
  const output = h("output", text(value));
  const input = /** @type {HTMLInputElement} */ (
    h("input", { type: "range", min, max, step, value: String(value), disabled: locked, "aria-valuetext": text(value) })
  );
  input.addEventListener("input", () => {
    const now = Number(input.value);
    say(output, text(now));
    input.setAttribute("aria-valuetext", text(now));
    onInput(now);
  });
  return h("label.hx-sketch-slider", [h("span", label), input, output]);
}

/** A drawing as wide and as high as its room, drawn again when that changes.
 *  @param {(sheet: SVGElement, width: number, height: number) => void} draw */
export function sheet(draw) {
  const el = svg("svg.hx-sketch-sheet", { "aria-hidden": "true" });
  const redraw = () => {
    const { width, height } = el.getBoundingClientRect();
    if (!width) return;
    set(el, { viewBox: `0 0 ${width} ${height}` });
    el.replaceChildren();
    draw(el, width, height);
  };
  const resizing = new ResizeObserver(redraw);
  resizing.observe(el);
  return { el, redraw, end: () => resizing.disconnect() };
}
