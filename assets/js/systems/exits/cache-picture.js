/** The keys and values of an exit and its target, layer by layer over the places of a round: what the exit computes, what the
 *  target goes on from, and what the bonus makes it compute again. */

import { h } from "../../shared/kit/dom.js";
import { bring } from "../index.js";
import { svg } from "../../shared/kit/svg.js";
import { frame, sheet, slider } from "../../tabs/learn/pictures/frame.js";
import { CACHE } from "./words.js";

const EDGE = { left: 92, right: 12, top: 8, bottom: 34 };

/** @param {import("../../tabs/learn/pictures/frame.js").PictureContext} ctx @returns {import("../../tabs/learn/pictures/frame.js").Picture} */
function cachePicture({ model, figure, open }) {
  const exit = model.levels[0];
  const target = model.levels[model.levels.length - 1];
  const layers = Number(target.layers) || 30;
  const now = {
    layers,
    at: Number(exit.params?.at) || 8,
    guesses: exit.block ?? 3,
    bonus: !open && figure.shows === "bonus",
  };
  const part = open ? (figure.open ?? "exit") : (figure.shows ?? "both"); // exit: its layers alone
  const seen = () => (part === "exit" ? exitWork(now).cells.filter((cell) => cell.by === "exit") : exitWork(now).cells);
  const drawn = sheet((el, width, height) => draw(el, width, height));

  function draw(/** @type {SVGElement} */ el, /** @type {number} */ width, /** @type {number} */ height) {
    const places = now.guesses + 1;
    const wide = (width - EDGE.left - EDGE.right) / places;
    const x = (/** @type {number} */ place) => EDGE.left + place * wide;
    const y = (/** @type {number} */ layer) =>
      height - EDGE.bottom - (layer / layers) * (height - EDGE.top - EDGE.bottom);
    const text = (/** @type {string} */ words, /** @type {Record<string, string|number>} */ at) => {
      svg("text", at, el).textContent = words;
    };
    for (let place = 0; place < places; place++) {
      const bed = {
        x: x(place) + 2,
        y: y(layers),
        width: wide - 4,
        height: y(0) - y(layers),
        rx: 3,
        class: "hx-cell-bed",
      };
      svg("rect", bed, el);
      const middle = { x: x(place) + wide / 2, y: height - 14, "text-anchor": "middle" };
      text(place ? CACHE.guess(place) : CACHE.last, middle);
      const asked = open && (part === "exit" || place === now.guesses);
      if (asked) text("?", { ...middle, y: (y(part === "exit" ? now.at : 0) + y(layers)) / 2, class: "hx-cell-asked" });
    }
    for (const { lo, hi, place, by } of seen()) {
      const again = by === "target" && place === now.guesses && lo === 0;
      const parts = again
        ? [
            [0, now.at, "again"],
            [now.at, hi, by],
          ]
        : [[lo, hi, by]];
      for (const [from, to, name] of /** @type {[number, number, string][]} */ (parts)) {
        const at = { x: x(place) + 2, width: wide - 4, y: y(to) + 1, height: Math.max(1, y(from) - y(to) - 2), rx: 3 };
        const cell = svg("rect", { ...at, class: `hx-cell hx-cell-${name}` }, el);
        cell.style.setProperty("--hue", (name === "exit" ? exit : target).hue);
        const word = name === "exit" && part !== "exit" ? CACHE.once : CACHE[/** @type {"exit"} */ (name)];
        if (wide > 110 && at.height > 18)
          text(word, {
            x: at.x + at.width / 2,
            y: at.y + at.height / 2 + 5,
            "text-anchor": "middle",
            class: "hx-line-word",
          });
      }
    }
    for (const layer of new Set([0, now.at, layers]))
      text(CACHE.layer(layer), { x: EDGE.left - 8, y: y(layer) + (layer ? 10 : -2), "text-anchor": "end" });
    svg("path.hx-line-ceiling", { d: `M${EDGE.left} ${y(now.at)}H${width - EDGE.right}` }, el);
  }

  const tell = () => {
    const { read, shared } = exitWork(now);
    const most = now.guesses + (now.bonus ? 1 : 0);
    picture.tell(
      part === "exit"
        ? CACHE.saysExit(now.at, layers, now.guesses)
        : CACHE.says({ ...now, exit: read.exit, target: read.target, shared, most, plain: layers * most }),
    );
  };
  const changed = () => {
    drawn.redraw();
    tell();
  };
  const bonus = h("input", {
    type: "checkbox",
    disabled: open,
    onchange: () => {
      now.bonus = /** @type {HTMLInputElement} */ (bonus).checked;
      changed();
    },
  });
  /** @type {HTMLInputElement} */ (bonus).checked = now.bonus;
  const ask = (/** @type {"at"|"guesses"} */ name, /** @type {number} */ max) =>
    slider({
      label: CACHE[name],
      ...{ min: 1, max, step: 1, value: now[name], locked: open, text: String },
      onInput: (value) => {
        now[name] = value;
        changed();
      },
    });
  const switches = part === "exit" ? null : h("label.hx-tick", [bonus, CACHE.bonus]);
  const sliders = h("div.hx-sketch-sliders", [ask("guesses", 6), ask("at", layers - 1), switches]);
  const picture = frame("cache", CACHE.label, [drawn.el], open ? [] : [sliders]);
  tell();
  return { el: picture.el, end: drawn.end };
}

bring({ pictures: [{ name: "cache", make: cachePicture }] });

// What an exit and its target compute in a round, place by place and layer by layer, and what of it is computed once:
// the spans that the engine's traces have (`ran`).

/** @typedef {{lo: number, hi: number, place: number, by: "exit"|"target"}} Cell layers lo to hi - 1 of the token at a place;
 *    place 0: the last token of the text, then the guesses
 *  @typedef {{cells: Cell[], read: {exit: number, target: number}, shared: number, again: number}} ExitWork read: layers
 *    whose weights are read; shared: layers times places that the target finds done; again: layers that only the bonus needs
 */

/** @param {{layers: number, at: number, guesses: number, bonus: boolean}} round at: layers of the exit
 *  @returns {ExitWork} */
export function exitWork({ layers, at, guesses, bonus }) {
  /** @type {Cell[]} */ const cells = [];
  for (let place = 0; place < guesses; place++) cells.push({ lo: 0, hi: at, place, by: "exit" });
  // Each row behind a place judges the next guess; the one behind the last guess is the bonus's.
  for (let place = 0; place < guesses; place++) cells.push({ lo: at, hi: layers, place, by: "target" });
  if (bonus) cells.push({ lo: 0, hi: layers, place: guesses, by: "target" });
  return {
    cells,
    read: { exit: at * guesses, target: bonus ? layers : layers - at },
    shared: at * guesses,
    again: bonus ? at : 0,
  };
}
