/** What stands below a long prompt: how long it is, or that it is too long, and a button that unfolds the field and folds
 *  it again. */

import { h, say } from "../../../shared/kit/dom.js";
import { PROMPT } from "../../../../text/en/run.js";

export const LONG = 2000; // characters; a shorter prompt says nothing of its length
const A_TOKEN = 4; // characters, about: the server counts

/**
 * How long a prompt is, in words; "" for a short one.
 * @param {string} text @param {number|null} most tokens that are read here, where it is known
 */
export function sizeText(text, most = null) {
  if (text.length <= LONG) return "";
  return PROMPT.size(text.length, Math.round(text.length / A_TOKEN), most);
}

/** @param {HTMLTextAreaElement} field @param {number} limit characters @param {number|null} most see `sizeText` */
export function promptSize(field, limit, most) {
  const said = h("span", { id: "hx-prompt-size" });
  const fold = h("button", {
    type: "button",
    class: "hx-link hx-prompt-fold",
    "aria-controls": field.id,
    onclick: () => set(field.dataset.open === undefined),
  });
  const el = h("p", { class: "hx-prompt-size", hidden: true }, said, fold);

  function set(/** @type {boolean} */ open) {
    if (open) field.dataset.open = "";
    else delete field.dataset.open;
    fold.setAttribute("aria-expanded", String(open));
    say(fold, open ? PROMPT.fold : PROMPT.unfold);
  }
  set(false);
  return {
    el,
    show() {
      const over = PROMPT.over(field.value, limit);
      const text = over || sizeText(field.value, most);
      el.classList.toggle("hx-over", Boolean(over));
      if (!text && !el.hidden) set(false);
      el.hidden = !text;
      say(said, text);
      if (text) field.setAttribute("aria-describedby", said.id);
      else field.removeAttribute("aria-describedby");
    },
  };
}
