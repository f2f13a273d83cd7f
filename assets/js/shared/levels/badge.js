/** A level by its letter and colour, as the tables name it. */

import { h } from "../kit/dom.js";
import { styleLevels } from "./kinds.js";

/** The head of its row or column. @param {string} name @param {import("./kinds.js").Look} style */
export function levelHead(name, style, scope = "row") {
  return h("th.hx-plan-level", { scope }, [levelBadge(style), h("span", name)]);
}

/** A level's letter. @param {Pick<import("./kinds.js").Look, "tag"|"underline"|"hue">} level */
export const badge = ({ tag, underline, hue }) =>
  h("span.hx-badge", { "data-line": underline, style: { "--hue": hue }, text: tag });

/** The same beside what it stands for. @param {import("./kinds.js").Look} level */
export function levelBadge(level) {
  const node = badge(level);
  node.setAttribute("aria-hidden", "true");
  return node;
}

/** Styles of the levels by name, as the Explore tab has them. @param {{name: string, kind: string, called?: string}[]} levels */
export function stylesOf(levels) {
  const styles = styleLevels(levels.map(({ name, kind, called = name }) => ({ kind, label: called })));
  return new Map(levels.map((level, i) => [level.name, styles[i]]));
}
