/** The generalised shortest path as a small graph: a row for each level, a place for each block length, and the path that is
 *  lit moves with the costs and acceptances. The arithmetic is the planner's. */

import { ratio } from "../../../../text/numbers.js";
import { svg } from "../../../shared/kit/svg.js";
import { styleLevels } from "../../../shared/levels/kinds.js";
import { shortest } from "../figures/sums.js";
import { frame, sheet, sliders } from "./frame.js";
import { HOPS } from "../../../../text/en/pictures.js";

const MOST = 8; // tokens of a block
const TARGET_MS = 15;
const EDGE = { left: 130, right: 20, top: 30, bottom: 34 };

/** @param {import("./frame.js").PictureContext} ctx @returns {import("./frame.js").Picture} */
export function hopsPicture({ open, figure }) {
  const levels = styleLevels((figure.levels ?? []).map((name) => ({ kind: name, name })));
  const now = { lookup: 0.1, copy: 6, "lookup-copy": 0.6, "lookup-target": 0.55, "copy-target": 0.97 };
  const solved = () =>
    shortest(
      [now.lookup, now.copy, TARGET_MS],
      [
        [1, now["lookup-copy"], now["lookup-target"]],
        [0, 1, now["copy-target"]],
        [0, 0, 1],
      ],
      MOST,
    );
  const drawn = sheet((el, width, height) => draw(el, width, height));

  function draw(/** @type {SVGElement} */ el, /** @type {number} */ width, /** @type {number} */ height) {
    const { best, nodes } = solved();
    const wide = (width - EDGE.left - EDGE.right) / MOST;
    const x = (/** @type {number} */ block) => EDGE.left + (block - 0.5) * wide;
    const y = (/** @type {number} */ level) =>
      EDGE.top + ((levels.length - 1 - level) / (levels.length - 1)) * (height - EDGE.top - EDGE.bottom);
    const place = (/** @type {{level: number, block: number}} */ { level, block }) =>
      level === levels.length - 1 ? [EDGE.left + (width - EDGE.left - EDGE.right) / 2, y(level)] : [x(block), y(level)];
    const text = (/** @type {string} */ words, /** @type {Record<string, string|number>} */ at) => {
      svg("text", at, el).textContent = words;
    };
    const all = nodes.flatMap((ways, level) => ways.map((_, i) => ({ level, block: i + 1 })));
    const top = { level: levels.length - 1, block: 1 };
    for (const one of all)
      for (const other of [...all.filter((x) => x.level > one.level), top])
        if (Math.abs(one.block - other.block) < 4 || other === top)
          svg("path.hx-hop-edge", { d: `M${place(one).join(" ")}L${place(other).join(" ")}` }, el);
    if (!open)
      best.path.slice(1).forEach((hop, i) => {
        svg("path.hx-hop-lit", { d: `M${place(best.path[i]).join(" ")}L${place(hop).join(" ")}` }, el);
      });
    const lit = (/** @type {{level: number, block: number}} */ one) =>
      !open && best.path.some((hop) => hop.level === one.level && hop.block === one.block);
    for (const one of [...all, top]) {
      const [cx, cy] = place(one);
      const node = svg(
        "circle",
        { cx, cy, r: one === top ? 20 : Math.min(17, wide / 3), class: `hx-hop ${lit(one) ? "hx-hop-on" : ""}` },
        el,
      );
      node.style.setProperty("--hue", levels[one.level].hue);
      const word = one === top ? levels[one.level].tag : String(one.block);
      text(word, { x: cx, y: cy + 5, "text-anchor": "middle", class: lit(one) ? "hx-line-word" : "" });
      const ms =
        one === top ? (open ? "" : HOPS.ms(best.ms)) : wide > 64 ? HOPS.ms(nodes[one.level][one.block - 1].ms) : "";
      if (ms)
        text(
          ms,
          one === top
            ? { x: cx + 30, y: cy + 5, class: "hx-line-word" }
            : { x: cx, y: cy + 32, "text-anchor": "middle", class: "hx-hop-ms" },
        );
    }
    levels.forEach((level, i) => {
      text(`${level.tag}  ${HOPS.levels[i]}`, { x: 4, y: y(i) + 5, class: "hx-line-word" });
    });
  }

  const tell = () => {
    const { best } = solved();
    const path = best.path.map(({ level, block }) =>
      level === levels.length - 1 ? levels[level].tag : `${levels[level].tag}\u00a0${block}`,
    );
    picture.tell(
      open
        ? HOPS.open
        : HOPS.says({ path, ms: HOPS.ms(best.ms), gain: ratio(TARGET_MS / best.ms), plain: HOPS.ms(TARGET_MS) }),
    );
  };
  const cost = (/** @type {number} */ min, /** @type {number} */ max, /** @type {number} */ step) => ({
    ...{ min, max, step },
    text: HOPS.ms,
  });
  const acceptance = { min: 0, max: 0.99, step: 0.01, text: ratio };
  const ranges = {
    lookup: { label: HOPS.sliders.lookup, ...cost(0.05, 5, 0.05) },
    copy: { label: HOPS.sliders.copy, ...cost(1, 20, 0.5) },
    "lookup-copy": { label: HOPS.sliders["lookup-copy"], ...acceptance },
    "lookup-target": { label: HOPS.sliders["lookup-target"], ...acceptance },
    "copy-target": { label: HOPS.sliders["copy-target"], ...acceptance },
  };
  const turned = () => {
    drawn.redraw();
    tell();
  };
  const below = open ? [] : [sliders(now, ranges, false, turned)];
  const picture = frame("hops", HOPS.label, [drawn.el], below);
  tell();
  return { el: picture.el, end: drawn.end };
}
