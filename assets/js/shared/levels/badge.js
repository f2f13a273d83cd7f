/** A level by its letter and colour, as the tables name it. */

import { h } from "../kit/dom.js";
import { styleLevels } from "./kinds.js";

/** The head of its row or column. @param {string} name @param {import("./kinds.js").Look} style */
export function levelHead(name, style, scope = "row") {
  return h("th.hx-plan-level", { scope }, [levelBadge(style), h("span", name)]);
}

export function levelBadge(/** @type {import("./kinds.js").Look} */ style) {
  return h("span.hx-badge", {
    "data-line": style.underline,
    style: { "--hue": style.hue },
    "aria-hidden": "true",
    text: style.tag,
  });
}

/** Styles of the levels by name, as the Explore tab has them. @param {{name: string, kind: string, called?: string}[]} levels */
export function stylesOf(levels) {
  const styles = styleLevels(levels.map(({ name, kind, called = name }) => ({ kind, label: called })));
  return new Map(levels.map((level, i) => [level.name, styles[i]]));
}
