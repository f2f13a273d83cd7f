/** A system by its sign and name, which lead to its card: on the map, and among a card's neighbours. */

import { h } from "../../shared/kit/dom.js";
import { leadsTo, exactly, runsHere } from "./by-question.js";
import { ATLAS } from "../../../text/en/atlas.js";
import { svg } from "../../shared/kit/svg.js";
import { kindOf } from "../../shared/levels/kinds.js";
import { tokensOf, shapeOf } from "./shape.js";

/** @param {import("./by-question.js").System} system @param {(id: string) => void} onOpen @returns {HTMLElement} */
export function chipOf(system, onOpen) {
  const built = runsHere(system);
  const chip = h(
    "a",
    { class: "hx-atlas-one", "data-tip": system.idea, "data-built": built },
    signOf(system),
    h("span", { class: "hx-atlas-name", text: system.name }),
    exactly(system) === "no" ? lossy() : null,
    built === "true"
      ? null
      : h("span", { class: "hx-sr", text: `, ${built === "first" ? ATLAS.legend.first : ATLAS.legend.not}` }),
  );
  return leadsTo(chip, system.id, onOpen);
}

/** The mark of a system whose text may differ. */
const lossy = () =>
  h(
    "span",
    { class: "hx-atlas-lossy" },
    h("span", { "aria-hidden": "true", text: "\u2248" }),
    h("span", { class: "hx-sr", text: `, ${ATLAS.legend.lossy}` }),
  );

// A system's sign on the map: its floors as bars, what the top one judges as dots; decoration beside its name.

const [WIDE, HIGH] = [44, 26];
const MOST = { line: 3, x: 3 }; // of dots, counted from 0

/** @param {import("./by-question.js").System} system */
function signOf(system) {
  const { floors, lanes } = shapeOf(system.shape);
  const el = svg("svg", { class: "hx-sign", viewBox: `0 0 ${WIDE} ${HIGH}`, "aria-hidden": "true" });
  const top = floors.length - 1;
  const hue = (/** @type {number} */ i) => `var(--hue-${kindOf(floors[i].kind || "target").name})`;
  const tinted = (/** @type {SVGElement} */ one, /** @type {number} */ by) => one.style.setProperty("--hue", hue(by));
  const built = floors.map((floor, i) => ({ i, floor })).filter(({ floor }) => floor.kind);
  const high = Math.min(8, HIGH / built.length);
  built.forEach(({ i }, nth) => {
    const y = HIGH - (nth + 1) * high + 0.5 - (HIGH - built.length * high) / 2;
    tinted(svg("rect", { x: 1, y, width: 13, height: high - 1.5, rx: 1.5, class: "hx-sign-floor" }, el), i);
  });
  if (lanes) {
    const rows = lanes === "free" && floors.length > 2 ? [0, 1, 2] : [0, 1];
    for (const row of rows) {
      const free = lanes === "free"; // the drafter's steps are short, and nobody waits
      const wide = free && row ? 6 : 9;
      for (let x = 19 + (free && !row ? 3 : 0); x + wide <= WIDE; x += wide + 2)
        tinted(
          svg(
            "rect",
            { x, y: 6 + (row * 16) / rows.length, width: wide, height: 12 / rows.length, rx: 1, class: "hx-sign-dot" },
            el,
          ),
          top - row,
        );
    }
    return el;
  }
  const judged = floors[top - 1];
  const tokens = judged
    ? tokensOf(floors, top - 1, false).filter(({ x, line }) => x <= MOST.x && line <= MOST.line)
    : [];
  const lines = Math.max(0, ...tokens.map(({ line }) => line)) + 1;
  const y = (/** @type {number} */ line) => HIGH / 2 + (line - (lines - 1) / 2) * 6.4;
  for (const { x, line, by } of tokens) {
    const place = { x: 18.5 + x * 6.4, y: y(line) - 2.3, width: 4.6, height: 4.6 };
    const round = judged.hand?.form === "cells" ? 0.5 : 2.3;
    tinted(svg("rect", { ...place, rx: round, class: "hx-sign-dot" }, el), by);
  }
  if (judged?.hand?.form === "block")
    svg("rect", { x: 16, y: HIGH / 2 - 5, width: 27, height: 10, rx: 3, class: "hx-sign-block" }, el);
  return el;
}
