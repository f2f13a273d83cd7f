/** The map of sublayers: a column a layer, attention above MLP, tinted by what is lost without each; a slider leaves out
 *  more and more of them. */

import { fixed } from "../../../text/numbers.js";
import { h, say } from "../../shared/kit/dom.js";
import { svg } from "../../shared/kit/svg.js";
import { bring } from "../index.js";
import { LADDER } from "./words.js";

const [WIDE, HIGH, GAP, TEXT] = [20, 30, 3, 28]; // of a cell, between cells, and below them for numbers
const NAMED = 4; // of the dearest, in words
const FIRST = 4; // steps that are shown at first: the set of the stack above

/** @param {Ladder} ladder @returns {HTMLElement} */
function ladderFigure(ladder) {
  const { picture, show } = drawn(ladder);
  const said = h("output.hx-ladder-said");
  const slider = h("input", {
    type: "range",
    ...{ min: "0", max: String(ladder.path.length), step: "1", value: String(Math.min(FIRST, ladder.path.length)) },
    oninput: () => update(),
  });
  const update = () => {
    const steps = Number(slider.value);
    const last = ladder.path[steps - 1];
    show(steps);
    const text = last ? LADDER.step(steps, last.agree, last.left, last.speed_up) : LADDER.none;
    say(said, text);
    slider.setAttribute("aria-valuetext", text);
  };
  update();
  return h("section.hx-panel.hx-ladder", [
    h("h2", LADDER.title),
    h("p.hx-ladder-answer", ladder.answer),
    h("div.hx-ladder-picture", picture),
    h("p.hx-ladder-legend", { "aria-hidden": "true" }, [h("span", LADDER.rows), legend()]),
    h("label.hx-ladder-slider", [h("span", LADDER.slider), slider]),
    said,
    h("p.hx-system-on", LADDER.read(ladder.places, ladder.texts, ladder.machine)),
    h("details", [h("summary", LADDER.figures), table(ladder), h("code", ladder.command)]),
  ]);
}

const legend = () =>
  /** @type {const} */ (["little", "all", "out"]).map((name) =>
    h("span", [h("i", { "data-sign": name }), LADDER.legend[name]]),
  );

/** The picture, and what leaves out the first steps of the path in it. @param {Ladder} ladder */
function drawn(ladder) {
  const { layers, alone } = ladder;
  const heavy = heaviest(ladder, NAMED).map((one) => LADDER.heavy(LADDER.kinds[one.kind], one.layer, lost(one)));
  const [width, height] = [layers * (WIDE + GAP) - GAP, 2 * HIGH + GAP + TEXT];
  const picture = svg("svg.hx-ladder-map", {
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": LADDER.picture(layers, heavy),
  });
  const cells = alone.map((one) => {
    const place = { x: one.layer * (WIDE + GAP) + 1, y: KINDS.indexOf(one.kind) * (HIGH + GAP) + 1, rx: 3 };
    const cell = svg("rect", { ...place, width: WIDE - 2, height: HIGH - 2 }, picture);
    cell.style.setProperty("--lost", `${Math.round(100 * Math.sqrt(lost(one)))}%`); // small losses are told apart too
    return { one, cell, title: svg("title", {}, cell) };
  });
  for (let layer = 0; layer < layers; layer += 5) {
    const number = svg("text", { x: layer * (WIDE + GAP) + WIDE / 2, y: height - 6, "text-anchor": "middle" }, picture);
    number.textContent = String(layer);
  }
  const show = (/** @type {number} */ steps) => {
    for (const { one, cell, title } of cells) {
      const out = isOut(ladder, steps, one);
      cell.setAttribute("data-out", String(out));
      title.textContent = LADDER.cell(LADDER.kinds[one.kind], one.layer, lost(one), out);
    }
  };
  return { picture, show };
}

/** @param {Ladder} ladder */
function table({ alone, layers }) {
  const share = (/** @type {string} */ kind, /** @type {number} */ layer) => {
    const found = alone.find((one) => one.kind === kind && one.layer === layer);
    return found ? `${fixed(100 * lost(found), 1)}\u202f%` : "";
  };
  const rows = Array.from({ length: layers }, (_, layer) =>
    h("tr", [h("th", { scope: "row", text: String(layer) }), KINDS.map((kind) => h("td", share(kind, layer)))]),
  );
  const heads = [LADDER.layer, ...KINDS.map((kind) => LADDER.kinds[kind])];
  return h("table", [
    h("caption", LADDER.lost),
    h("thead", [h("tr", [heads.map((text) => h("th", { scope: "col", text }))])]),
    h("tbody", rows),
  ]);
}

bring({ cards: [{ name: "skip", make: ladderFigure }] });

// What a ladder of sublayers says: how much each is worth alone, and which are out after so many steps.

/** @typedef {{kind: string, layer: number, agree: number}} Sublayer `agree`: the share of tokens kept without it
 *  @typedef {{preset: string, layers: number, places: number, texts: number, machine: string, command: string, answer: string,
 *    alone: Sublayer[], path: (Sublayer & {left: number, speed_up: number})[]}} Ladder as hsd_core/systems/skip/page.py declares it
 */

export const KINDS = ["attention", "mlp"]; // of a layer, in the order in which they run

/** What is lost without a sublayer alone. @param {Sublayer} one */
export const lost = ({ agree }) => Math.max(0, Math.min(1, 1 - agree));

/** The sublayers that cost most, dearest first. @param {Ladder} ladder @param {number} count */
export const heaviest = ({ alone }, count) => [...alone].sort((a, b) => a.agree - b.agree).slice(0, count);

/** Whether the first steps of the path leave a sublayer out. @param {Ladder} ladder @param {number} steps @param {Sublayer} one */
export const isOut = ({ path }, steps, { kind, layer }) =>
  path.slice(0, steps).some((step) => step.kind === kind && step.layer === layer);
