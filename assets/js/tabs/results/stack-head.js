/** A stack as the head of a row: its levels' letters, what it is called with its code below, and the way to the first screen
 *  with it. */

import { h } from "../../shared/kit/dom.js";
import { levelBadge, stylesOf } from "../../shared/levels/badge.js";
import { TABLE } from "../../../text/en/results.js";

/** Whether a stack is a preset's default: as it is planned for this machine, or as the preset has it, which is what tables
 *  of other machines hold. @param {{default_stack?: string, preset_stack?: string}} preset @param {string} stack */
export const isDefault = (preset, stack) => [preset.default_stack, preset.preset_stack].includes(stack);

/**
 * @param {string} stack @param {string} name among the stacks that stand beside it
 * @param {string} preset @param {boolean} usual whether it is the preset's default
 */
export function stackHead(stack, name, preset, usual) {
  const parts = stack.split(",");
  const styles = [
    ...stylesOf(parts.map((part, i) => ({ name: `${i} ${part}`, kind: part.split(/[@:]/)[0] }))).values(),
  ];
  const query = new URLSearchParams({ preset, stack });
  const code = h(
    "code",
    { class: "hx-stack-code" },
    ...parts.flatMap((part, i) => (i ? [",", h("wbr"), part] : [part])),
  );
  return h(
    "th",
    { scope: "row", class: "hx-res-name" },
    h(
      "a",
      {
        class: "hx-res-stack",
        href: `?${query}`,
        "data-tip": TABLE.openTip,
        onclick: (/** @type {MouseEvent} */ event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return; // a tab or window of its own
          event.preventDefault();
          document.dispatchEvent(new CustomEvent("hx:use-stack", { detail: { stack, preset } }));
        },
      },
      h("span", { class: "hx-res-badges", "aria-hidden": "true" }, ...styles.map(levelBadge)),
      h("span", { class: "hx-res-called", text: name }),
      h("span", { class: "hx-sr", text: TABLE.open }),
    ),
    usual ? h("span", { class: "hx-res-tag", text: TABLE.usual }) : null,
    name === stack ? null : code,
  );
}
