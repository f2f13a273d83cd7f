/** The switch above the text: what a token's colour shows. */

import { h } from "../../kit/dom.js";
import { TEXT } from "../../../../text/en/text.js";

/** @param {(value: string) => void} onPick */
export function colourSwitch(onPick) {
  /** @type {Map<string, HTMLInputElement>} */ const inputs = new Map();
  const ways = Object.entries(TEXT.colours).map(([value, text]) => {
    const input = /** @type {HTMLInputElement} */ (
      h("input", { type: "radio", name: "hx-colour", value, class: "hx-sr", onchange: () => onPick(value) })
    );
    inputs.set(value, input);
    return h("label", { "data-tip": TEXT.colourTips[value] }, input, h("span", { text }));
  });
  return {
    el: h("div", { class: "hx-switch-ways", role: "radiogroup", "aria-label": TEXT.colourBy }, ...ways),
    /** @param {string} chosen */
    show(chosen) {
      for (const [value, input] of inputs) input.checked = value === chosen;
    },
  };
}
