/** Acceptance, block length and the cost of a guess as sliders: tokens a pass, the speed that this gives, and the length
 *  that gains most. It begins with the figures of the lesson's run. */

import { h } from "../../../shared/kit/dom.js";
import { roundUp, svg } from "../../../shared/kit/svg.js";
import { ofRun, stated } from "../../../shared/levels/stated.js";
import { ratio } from "../../../../text/numbers.js";
import { yieldsOf } from "../figures/refs.js";
import { bestLength, gained, yielded } from "../figures/sums.js";
import { frame, sheet, sliders } from "./frame.js";
import { YIELDS } from "../../../../text/en/pictures.js";

const MOST = 16; // guesses
const EDGE = { left: 34, right: 12, top: 14, bottom: 34 };

/** @param {import("./frame.js").PictureContext} ctx @returns {import("./frame.js").Picture} */
export function yieldsPicture({ model, figure, open }) {
  const top = model.levels.length - 1;
  const drafter = model.levels[top - 1];
  const [verifies, drafts] = [top, top - 1].map((level) => model.figures.of(Infinity, level));
  const perGuess = (drafts?.busy_ms ?? 0) / Math.max(1, drafted(model, top - 1)) / (verifies?.ms_per_call ?? 1);
  const now = {
    a: Math.min(0.99, verifies?.acceptance ?? 0.7),
    n: Math.min(MOST, figure.guesses ?? drafter?.block ?? 4),
    c: Math.min(1, Math.max(0.01, Math.round(100 * perGuess) / 100)),
  };
  const own = { ...now }; // the run's
  const drawn = sheet((el, width, height) => draw(el, width, height, now, open));
  const ranges = {
    a: { ...YIELDS.a, min: 0, max: 0.99, step: 0.01 },
    n: { ...YIELDS.n, min: 1, max: MOST, step: 1 },
    c: { ...YIELDS.c, min: 0.01, max: 1, step: 0.01 },
  };
  const turned = () => {
    drawn.redraw();
    tell();
  };
  const key = h("p.hx-sketch-key", [
    Object.entries(YIELDS.key).map(([name, text]) =>
      open && name !== "bar" ? null : h("span", { "data-line": name }, text),
    ),
  ]);
  const picture = frame("yields", YIELDS.label, [drawn.el, key], [sliders(now, ranges, open, turned)]);
  const tell = () => {
    const best = bestLength(now.a, now.c, MOST);
    const of = (/** @type {any[]} */ what, /** @type {number} */ x) =>
      now.a === own.a ? stated(what, ofRun(model.header), ratio(x)) : ratio(x);
    const verifier = model.levels[top].tag;
    const a = of(["acceptance", verifier], now.a);
    picture.tell(
      open
        ? YIELDS.open(a, now.n)
        : YIELDS.says({
            ...{ a, n: now.n, c: now.c },
            tokens: of(yieldsOf(verifier, now.n), yielded(now.a, now.n)),
            ceiling: of(["ceiling", verifier], 1 / (1 - now.a)),
            speed: ratio(gained(now.a, now.n, now.c)),
            best,
            bestSpeed: ratio(gained(now.a, best, now.c)),
          }),
    );
  };
  tell();
  return { el: picture.el, end: drawn.end };
}

/** Tokens that a level drafted. @param {import("../../../shared/run/trace.js").TraceModel} model @param {number} level */
const drafted = (model, level) =>
  model.segments.reduce((n, s) => n + (s.level === level && s.kind === "draft" ? s.tokensOut : 0), 0);

/** @param {SVGElement} el @param {number} width @param {number} height @param {{a: number, n: number, c: number}} now @param {boolean} open */
function draw(el, width, height, { a, n, c }, open) {
  const lengths = Array.from({ length: MOST + 1 }, (_, i) => i);
  const most = open ? 1.25 : roundUp(Math.max(yielded(a, MOST), 1.2) * 1.04, [1, 1.5, 2, 3, 4, 5, 6, 8, 10]);
  const x = (/** @type {number} */ i) => EDGE.left + ((i + 0.5) / (MOST + 1)) * (width - EDGE.left - EDGE.right);
  const y = (/** @type {number} */ v) => height - EDGE.bottom - (v / most) * (height - EDGE.top - EDGE.bottom);
  const text = (/** @type {string} */ words, /** @type {Record<string, string|number>} */ at) => {
    svg("text", at, el).textContent = words;
  };
  for (let v = 0; v <= most; v += most > 5 ? 2 : 1) {
    svg(
      "path",
      { d: `M${EDGE.left} ${y(v)}H${width - EDGE.right}`, class: v === 1 ? "hx-line-one" : "hx-line-grid" },
      el,
    );
    text(String(v), { x: EDGE.left - 8, y: y(v) + 4, "text-anchor": "end" });
  }
  for (const i of lengths) {
    const high = i <= n ? a ** i : 0;
    const bar = {
      x: x(i) - 9,
      width: 18,
      y: y(high),
      height: Math.max(0, y(0) - y(high)),
      rx: 2,
      class: "hx-line-bar",
    };
    if (high) svg("rect", bar, el);
    if (width > 480 || i % 2 === 0) text(String(i), { x: x(i), y: height - 14, "text-anchor": "middle" });
  }
  if (open) return;
  const curve = (/** @type {(i: number) => number} */ f, /** @type {string} */ name) =>
    svg("path", { d: `M${lengths.map((i) => `${x(i).toFixed(1)} ${y(f(i)).toFixed(1)}`).join("L")}`, class: name }, el);
  const ceiling = 1 / (1 - a);
  if (ceiling <= most) svg("path.hx-line-ceiling", { d: `M${EDGE.left} ${y(ceiling)}H${width - EDGE.right}` }, el);
  curve((i) => yielded(a, i), "hx-line-tokens");
  curve((i) => gained(a, i, c), "hx-line-speed");
  const dot = (/** @type {number} */ i, /** @type {number} */ v, /** @type {string} */ name, r = 6) =>
    svg("circle", { cx: x(i), cy: y(v), r, class: name }, el);
  dot(n, yielded(a, n), "hx-dot-tokens");
  dot(n, gained(a, n, c), "hx-dot-speed");
  const best = bestLength(a, c, MOST);
  dot(best, gained(a, best, c), "hx-dot-best", 11);
  text(YIELDS.best(best), {
    x: x(best),
    y: y(gained(a, best, c)) + 28,
    "text-anchor": "middle",
    class: "hx-line-word",
  });
  text(ratio(yielded(a, n)), { x: x(n), y: y(yielded(a, n)) - 12, "text-anchor": "middle", class: "hx-line-word" });
}
