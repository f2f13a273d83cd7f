/** Messages that float over the page. What is only said leaves by itself; an error stays until it is dismissed, or until
 *  the next run. */

import { h, icon, say } from "./dom.js";
import { NOTE } from "../../../text/en/page.js";
import { heard } from "../../../text/heard.js";

const SHORTEST_MS = 5000;
const PER_LETTER_MS = 60;

/** @returns {{el: HTMLElement, tell: (text: string, kind?: string) => void, clear: () => void}} */
export function createNote() {
  const words = h("span.hx-note-text");
  const close = h("button.hx-icon-button", { "aria-label": NOTE.dismiss, onclick: () => clear() }, icon("remove"));
  const el = h("p.hx-note", { role: "alert", hidden: true }, [words, close]);
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let leaving;
  const clear = () => {
    clearTimeout(leaving);
    el.hidden = true;
  };
  const leave = () => {
    clearTimeout(leaving);
    if (el.dataset.kind !== "error")
      leaving = setTimeout(clear, SHORTEST_MS + PER_LETTER_MS * words.textContent.length);
  };
  // Whoever is at its button is not hurried.
  close.addEventListener("pointerenter", () => clearTimeout(leaving));
  close.addEventListener("focus", () => clearTimeout(leaving));
  close.addEventListener("pointerleave", leave);
  close.addEventListener("blur", leave);
  return {
    el,
    /** `kind`: "error" or nothing. */
    tell(text, kind = "") {
      say(words, heard(text));
      el.dataset.kind = kind;
      el.hidden = !text;
      leave();
    },
    clear,
  };
}
