/** The switch above the text: whether a token has the colour of the level that supplied it, or of the highest one that
 *  accepted it. The other ways to colour are in the settings; one that is chosen there stands here beside the two. */

import { h } from "../../kit/dom.js";
import { TEXT } from "../../words/play/text.js";

const ALWAYS = ["level", "passed"];

/** @param {(value: string) => void} onPick */
export function colourSwitch(onPick) {
  /** @type {Map<string, {el: HTMLElement, input: HTMLInputElement}>} */ const ways = new Map();
  for (const [value, text] of Object.entries(TEXT.colours)) {
    const input = h("input", {
      type: "radio",
      name: "hx-colour",
      value,
      class: "hx-sr",
      onchange: () => onPick(value),
    });
    const tip = TEXT.colourTips[value] ?? null;
    ways.set(value, { el: h("label", { "data-tip": tip }, input, h("span", { text })), input });
  }
  const el = h(
    "div",
    { class: "hx-switch-ways", role: "radiogroup", "aria-label": TEXT.colourBy },
    ...[...ways.values()].map((way) => way.el),
  );
  return {
    el,
    /** @param {string} chosen */
    show(chosen) {
      for (const [value, way] of ways) {
        way.input.checked = value === chosen;
        way.el.hidden = value !== chosen && !ALWAYS.includes(value);
      }
    },
  };
}
