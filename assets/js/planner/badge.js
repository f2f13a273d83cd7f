/** A level by its letter and colour, as the tables name it. */

import { h } from "../dom.js";

/** The head of its row or column. */
export function levelHead(name, style, scope = "row") {
  return h("th", { scope, class: "hx-plan-level" }, levelBadge(style), h("span", { text: name }));
}

export function levelBadge(style) {
  return h("span", {
    class: "hx-badge",
    "data-line": style.underline,
    style: { "--hue": style.hue },
    "aria-hidden": "true",
    text: style.tag,
  });
}
