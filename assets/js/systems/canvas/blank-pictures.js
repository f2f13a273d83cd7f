/** Pictures of a lesson: a block filled pass by pass, the distance to the right law as R turns, and a block rewritten. */

import { h } from "../../shared/kit/dom.js";
import { svg } from "../../shared/kit/svg.js";
import { fixed } from "../../../text/numbers.js";
import { frame, sheet, slider, sliders } from "../../tabs/learn/pictures/frame.js";
import { bring } from "../index.js";
import { blockAfter, blockGrid, CELLS as BLOCK_CELLS } from "./block.js";
import { apart, apd, CELLS, joint } from "./law.js";
import { LAW, PASSES, PRICES, REWRITES } from "./words.js";

/** @import {PictureContext, Picture} from "../../tabs/learn/pictures/frame.js" @import {TraceModel} from "../../shared/run/trace.js" */

/** @param {PictureContext} ctx @returns {Picture} */
function blockPicture({ model }) {
  const counts = model.rounds.map((round) => model.committedAt(round.t1));
  const first = Math.max(1, counts.findLastIndex((n) => blockAfter(model, n).full === 0) + 1);
  const room = h("div.hx-blanks-room");
  const show = (/** @type {number} */ pass) => {
    const n = counts[pass - 1] ?? 0;
    room.replaceChildren(blockGrid(model, n, pass - 1));
    const notes = model.segments.findLast((x) => x.kind === "verify" && x.round === pass - 1)?.notes;
    picture.tell(PASSES.says(pass, n, notes?.canvases?.count ?? 0));
  };
  const ask = { label: PASSES.slider, min: 0, max: first, step: 1, value: first, locked: false };
  const picture = frame("blanks", PASSES.label, [room], [slider({ ...ask, text: String, onInput: show })]);
  show(first);
  return { el: picture.el };
}

const EDGE = { left: 44, right: 14, top: 14, bottom: 40 };
const STEPS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];

/** @param {PictureContext} ctx @returns {Picture} */
function lawPicture({ open }) {
  const right = joint();
  const now = { r: 0.5, most: CELLS };
  /** @type {Map<string, {perPass: number, apart: number}>} */ const known = new Map();
  const of = (/** @type {number} */ r) => {
    const key = `${r} ${now.most}`;
    const { law, perPass } = known.has(key) ? { law: right, perPass: 0 } : apd(now.most, r);
    if (!known.has(key)) known.set(key, { perPass, apart: apart(law, right) });
    return /** @type {{perPass: number, apart: number}} */ (known.get(key));
  };
  const drawn = sheet((el, width, height) => draw(el, width, height, STEPS.map(of), of(now.r), open));
  const turned = () => {
    drawn.redraw();
    tell();
  };
  const ranges = {
    r: { ...LAW.r, min: 0, max: 1, step: 0.1 },
    most: { ...LAW.most, min: 1, max: CELLS, step: 1 },
  };
  const picture = frame("law", LAW.label, [drawn.el], [sliders(now, ranges, open, turned)]);
  const tell = () => {
    if (!open) picture.tell(LAW.says(fixed(of(now.r).perPass, 2), `${fixed(100 * of(now.r).apart, 1)} %`));
  };
  tell();
  return { el: picture.el, end: drawn.end };
}

/** @param {SVGElement} el @param {number} width @param {number} height
 *  @param {{perPass: number, apart: number}[]} curve @param {{perPass: number, apart: number}} here @param {boolean} open */
function draw(el, width, height, curve, here, open) {
  const x = (/** @type {number} */ v) => EDGE.left + ((v - 1) / (CELLS - 1)) * (width - EDGE.left - EDGE.right);
  const y = (/** @type {number} */ v) => height - EDGE.bottom - (v / 0.6) * (height - EDGE.top - EDGE.bottom);
  const text = (/** @type {string} */ words, /** @type {Record<string, string|number>} */ at) => {
    svg("text", at, el).textContent = words;
  };
  for (const v of [0, 0.2, 0.4, 0.6]) {
    svg("path.hx-line-grid", { d: `M${EDGE.left} ${y(v)}H${width - EDGE.right}` }, el);
    text(fixed(v, 1), { x: EDGE.left - 8, y: y(v) + 4, "text-anchor": "end" });
  }
  for (let v = 1; v <= CELLS; v++) text(String(v), { x: x(v), y: height - 22, "text-anchor": "middle" });
  text(LAW.across, { x: width - EDGE.right, y: height - 5, "text-anchor": "end", class: "hx-line-word" });
  text(LAW.up, { x: EDGE.left + 4, y: EDGE.top + 4, class: "hx-line-word" });
  if (open) return;
  const line = curve.map((one) => `${x(one.perPass).toFixed(1)} ${y(one.apart).toFixed(1)}`).join("L");
  svg("path.hx-line-tokens", { d: `M${line}` }, el);
  for (const one of curve) svg("circle.hx-law-dot", { cx: x(one.perPass), cy: y(one.apart), r: 4 }, el);
  svg("circle.hx-law-dot", { cx: x(here.perPass), cy: y(here.apart), r: 8, "data-now": "1" }, el);
}

/** Drafts that were rewritten, and the round that judged each. @param {TraceModel} model */
const rewrites = (model) =>
  model.segments.flatMap((x) => {
    const passes = x.kind === "draft" ? x.notes?.rewritten?.passes : null;
    return passes ? [{ passes, serials: x.serials ?? [], hue: model.levels[x.level].hue }] : [];
  });

/** @param {PictureContext} ctx @returns {Picture} */
function rewritesPicture({ model }) {
  const found = rewrites(model);
  const table = h("table.hx-rewrites");
  const show = (/** @type {number} */ which) => {
    const one = found[which - 1];
    if (!one) return;
    table.style.setProperty("--hue", one.hue);
    table.replaceChildren(
      ...one.passes.map((/** @type {string[]} */ row, /** @type {number} */ i) =>
        h("tr", [
          h("th", { scope: "row", text: `${REWRITES.pass} ${i + 1}` }),
          row.map((word, cell) =>
            h("td", {
              text: word,
              "data-new": i && one.passes[i - 1][cell] === word ? null : "1",
            }),
          ),
        ]),
      ),
    );
    const kept = one.serials.filter((serial) => model.tokens.get(serial)?.passed.length).length;
    const last = String(one.passes.at(-1));
    const swings = one.passes.slice(0, -1).some((/** @type {string[]} */ row) => String(row) === last);
    picture.tell(REWRITES.says(one.passes.length, kept, one.serials.length, swings));
  };
  const ask = { label: REWRITES.slider, min: 1, max: Math.max(1, found.length), step: 1, value: 1, locked: false };
  const picture = frame("rewrites", REWRITES.label, [table], [slider({ ...ask, text: String, onInput: show })]);
  show(1);
  return { el: picture.el };
}

/** What states ahead gain on machines: passes counted in the run, their times from profiles. @param {PictureContext} ctx @returns {Picture} */
function pricesPicture({ model, sources }) {
  const verified = model.segments.filter((x) => x.kind === "verify");
  const states = verified.reduce((sum, x) => sum + (x.notes?.canvases?.count ?? 1), 0) / Math.max(1, verified.length);
  const steps = model.committed.length / Math.max(1, verified.length);
  const machines = sources().requests?.machines ?? [];
  const bars = machines.map((/** @type {{name: string, rows: number[], times: number[]}} */ { name, rows, times }) => {
    const gain = (steps * timeOf(rows, times, BLOCK_CELLS)) / timeOf(rows, times, BLOCK_CELLS * states);
    return h("li.hx-price", [
      h("span", name || PRICES.here),
      h("span.hx-price-bar", {
        "data-loses": gain < 1 ? "1" : null,
        style: { "--part": String(Math.min(1, gain / 4)) },
      }),
      h("b", PRICES.times(fixed(gain, 2))),
    ]);
  });
  const picture = frame("prices", PRICES.label, [h("ul.hx-prices", bars)]);
  picture.tell(PRICES.says(fixed(steps, 2), fixed(states, 1)));
  return { el: picture.el };
}

/** The time of a pass of n rows, between the nearest known ones. @param {number[]} rows @param {number[]} times @param {number} n */
export function timeOf(rows, times, n) {
  const i = Math.min(
    rows.length - 1,
    Math.max(
      1,
      rows.findIndex((x) => x >= n),
    ),
  );
  const share = Math.max(0, Math.min(1, (n - rows[i - 1]) / (rows[i] - rows[i - 1])));
  return times[i - 1] + share * (times[i] - times[i - 1]);
}

bring({
  pictures: [
    { name: "blanks", make: blockPicture },
    { name: "law", make: lawPicture },
    { name: "prices", make: pricesPicture },
    { name: "rewrites", make: rewritesPicture },
  ],
});
