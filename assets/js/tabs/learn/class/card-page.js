/** A task, or a question for the room, as large as the window. */

import { h } from "../../../shared/kit/dom.js";
import { rich } from "../figures/rich.js";
import { CLASS } from "../../../../text/en/class.js";

/** @param {import("./stops.js").CardStop} stop @param {string} title of the part @param {(direction: 1|-1) => void} onGo */
export function cardPage(stop, title, onGo) {
  const heading = h("h1", { tabindex: "-1", text: CLASS.cardHead[stop.kind] });
  const button = (/** @type {string} */ text, /** @type {1|-1} */ to) =>
    h("button", { type: "button", class: "hx-quiet", text, onclick: () => onGo(to) });
  const el = h(
    "section",
    { class: "hx-class-card" },
    h("p", { class: "hx-lesson-kicker", text: title }),
    heading,
    h("p", { class: "hx-class-text" }, ...rich(stop.text)),
    stop.open
      ? h("a", { class: "hx-quiet", href: `?${stop.open}`, target: "_blank", rel: "noopener", text: CLASS.openTask })
      : null,
    h("footer", { class: "hx-class-foot" }, button(CLASS.previous, -1), button(CLASS.next, 1)),
  );
  el.addEventListener("keydown", (event) => {
    const by = /** @type {1|-1|undefined} */ ({ ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }[event.key]);
    if (!by || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    onGo(by);
  });
  return { el, title: heading };
}
