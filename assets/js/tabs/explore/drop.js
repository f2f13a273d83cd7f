/** A trace file that is dropped anywhere onto the page is opened, as by the button; while one is held over it, the page
 *  shows where it goes. */

import { h } from "../../shared/kit/dom.js";
import { words } from "../../../text/en/share.js";

/**
 * @param {{onFile: (file: File) => void, onTell: (text: string, kind?: string) => void}} ctx
 * @returns {HTMLElement} what is shown while a file is held over the page
 */
export function dropTarget({ onFile, onTell }) {
  const el = h(
    "div",
    { class: "hx-drop", hidden: true },
    h("p", {}, h("b", { text: words.drop }), h("span", { text: words.dropNote })),
  );
  const holds = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files");
  const over = (/** @type {DragEvent} */ event) => {
    if (!holds(event) || event.defaultPrevented) return; // somebody else's: the Planner takes profiles
    event.preventDefault();
    el.hidden = false;
  };
  document.addEventListener("dragenter", over);
  document.addEventListener("dragover", over);
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) el.hidden = true; // it left the window
  });
  document.addEventListener("drop", (event) => {
    const shown = !el.hidden;
    el.hidden = true;
    if (!shown || !holds(event) || event.defaultPrevented) return;
    event.preventDefault();
    const files = [...(event.dataTransfer?.files ?? [])];
    if (!files.length) return onTell(words.dropNone, "error");
    if (files.length > 1) onTell(words.dropMany);
    onFile(files[0]);
  });
  return el;
}
