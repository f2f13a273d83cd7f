/** The edges of the best path as buttons: what each costs and multiplies. Focus or hover lights the same edge in the
 *  plot. */

import { h } from "../../shared/kit/dom.js";
import { PLANNER } from "../../../text/en/planner.js";

/** @typedef {{id: string, name: string, cost: string, gain: string, curve: number, point: number}} Edge */

/** @param {{onPick: (point: {curve: number, point: number}|null) => void}} ctx */
export function pathList(ctx) {
  const el = h("ol", { class: "hx-plan-edges", "aria-label": PLANNER.path });
  /** @type {HTMLElement[]} */ let now = [];
  return {
    el,
    show(/** @type {Edge[]} */ edges) {
      now = edges.map((edge) =>
        h(
          "button",
          {
            type: "button",
            class: "hx-plan-edge",
            "data-edge": edge.id,
            onfocus: () => ctx.onPick(edge),
            onmouseenter: () => ctx.onPick(edge),
            onblur: () => ctx.onPick(null),
            onmouseleave: () => ctx.onPick(null),
          },
          h("b", { text: edge.name }),
          h("span", { text: edge.cost }),
          h("span", { text: edge.gain }),
        ),
      );
      el.replaceChildren(...now.map((button) => h("li", {}, button)));
    },
    /** The edge that the pointer is on in the plot. @param {string|null} id */
    light(id) {
      for (const button of now) button.dataset.lit = String(button.dataset.edge === id);
    },
  };
}
