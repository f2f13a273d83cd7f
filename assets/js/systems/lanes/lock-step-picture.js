/** One level after another, and both at the same time: two charts of work on one clock, with sliders for acceptance, block
 *  length and what a draft costs. It begins with the figures of the lesson's run. */

import { h } from "../../shared/kit/dom.js";
import { bring } from "../index.js";
import { svg } from "../../shared/kit/svg.js";
import { roundOfLanes } from "../../tabs/learn/figures/run-figures.js";
import { atMost, inStep, inTurn, perStep, shortestOf, yielded } from "../../tabs/learn/figures/sums.js";
import { overlaps } from "../../shared/levels/overlap.js";
import { ofRun, stated } from "../../shared/levels/stated.js";
import { speedUp } from "../../shared/run/figures.js";
import { fixed, ratio } from "../../../text/numbers.js";
import { frame, sheet, sliders } from "../../tabs/learn/pictures/frame.js";
import { LOCK_STEP } from "./words.js";

const MOST = 16; // tokens of a block
const SPAN = 8; // passes of the target that are drawn
const NARROW = 520; // px: below it names stand under the lanes
const EDGE = { right: 8, top: 8 };

/** @param {import("../../tabs/learn/pictures/frame.js").PictureContext} ctx @returns {import("../../tabs/learn/pictures/frame.js").Picture} */
function lockStepPicture({ model, open }) {
  const top = model.levels.length - 1;
  const { below, target } = roundOfLanes(model) ?? { below: 1, target: 1 };
  const g = Math.min(MOST, Math.max(1, model.levels[top - 1]?.block ?? 4));
  const now = {
    a: Math.min(0.99, model.figures.of(Infinity, top)?.acceptance ?? 0.7),
    g,
    d: Math.min(1, Math.max(0.01, below / target / g)),
  };
  const own = { ...now }; // the run's
  const hues = [model.levels[top - 1]?.hue, model.levels[top]?.hue];
  const drawn = sheet((el, width, height) => draw(el, width, height, now, hues));
  const ranges = {
    a: { ...LOCK_STEP.a, min: 0, max: 0.99, step: 0.01 },
    g: { ...LOCK_STEP.g, min: 1, max: MOST, step: 1 },
    d: { ...LOCK_STEP.d, min: 0.01, max: 1, step: 0.01 },
  };
  const key = h("p.hx-sketch-key", [
    LOCK_STEP.key.map((text, i) => h("span.hx-key-block", { style: { "--hue": hues[i] } }, text)),
  ]);
  const turned = () => {
    drawn.redraw();
    tell();
  };
  const picture = frame("overlap", LOCK_STEP.label, [drawn.el, key], [sliders(now, ranges, open, turned)]);
  const tell = () => {
    if (open) return;
    const { a, g, d } = now;
    const turn = shortestOf((n) => inTurn(a, n, d), MOST);
    const step = shortestOf((n) => inStep(a, n, d), MOST);
    const its = a === own.a && g === own.g && d === own.d;
    const of = (/** @type {string|string[]} */ what, /** @type {number} */ x) =>
      its ? stated(what, ofRun(model.header), ratio(x)) : ratio(x);
    const says = LOCK_STEP.says({
      bound: of(["step", "most"], atMost(g * d, 1)),
      turn: ratio(1 / inTurn(a, g, d)),
      step: ratio(1 / inStep(a, g, d)),
      best: [turn, step].map(([time, n]) => [ratio(1 / time), n]),
      pays: step[0] < Math.min(1, turn[0]) - 1e-12,
      loses: turn[0] < 1,
    });
    const ran = its ? speedUp(model, model.end) : null;
    picture.tell(ran === null ? says : `${says} ${LOCK_STEP.ran(of("speed_up", ran), overlaps(model.header))}`);
  };
  tell();
  return { el: picture.el, end: drawn.end };
}

/** @param {SVGElement} el @param {number} width @param {number} height @param {{a: number, g: number, d: number}} now @param {string[]} hues below, target */
function draw(el, width, height, { a, g, d }, hues) {
  const narrow = width < NARROW;
  const side = narrow ? 0 : innerWidth >= 1800 ? 170 : 118;
  const room = width - side - EDGE.right;
  const x = (/** @type {number} */ t) => side + (Math.min(t, SPAN) / SPAN) * room;
  const lane = Math.min(64, (height - EDGE.top - 40) / 4);
  const text = (/** @type {string} */ words, /** @type {Record<string, string|number>} */ at) =>
    (svg("text", at, el).textContent = words);
  /** @param {number} from @param {number} to @param {number} y @param {number} who */
  const block = (from, to, y, who) => {
    if (from >= SPAN) return;
    const node = svg(
      "rect.hx-step-block",
      { x: x(from) + 0.5, width: Math.max(1, x(to) - x(from) - 1), y, height: lane - 4, rx: 2 },
      el,
    );
    node.style.setProperty("--hue", hues[who]);
  };
  const [turnY, stepY] = [EDGE.top, EDGE.top + 1.7 * lane];
  for (const y of [turnY, stepY, stepY + lane])
    svg("rect.hx-step-bed", { x: side, width: room, y, height: lane - 4, rx: 2 }, el);
  const draft = g * d;
  for (let t = 0; t < SPAN; t += draft + 1) {
    block(t, t + draft, turnY, 0);
    block(t + draft, t + draft + 1, turnY, 1);
  }
  const step = Math.max(draft, 1);
  for (let t = 0; t < SPAN; t += step) {
    block(t, t + 1, stepY, 1);
    block(t, t + draft, stepY + lane, 0);
  }
  /** @param {string} name @param {string} yields @param {number} middle @param {number} below */
  const put = (name, yields, middle, below) => {
    if (!narrow) text(name, { x: 0, y: middle, class: "hx-line-word" });
    text(narrow ? `${name}: ${yields}` : yields, { x: side, y: below, class: "hx-step-yield" });
  };
  const [inTurnYields, inStepYields] = [
    LOCK_STEP.yields(fixed(yielded(a, g), 2), fixed(draft + 1, 2)),
    LOCK_STEP.yields(fixed(perStep(a, g), 2), fixed(step, 2)),
  ];
  put(LOCK_STEP.turn, inTurnYields, turnY + lane / 2 + 2, turnY + lane + 12);
  put(LOCK_STEP.step, inStepYields, stepY + lane + 2, stepY + 2 * lane + 14);
}

bring({ pictures: [{ name: "overlap", make: lockStepPicture }] });
