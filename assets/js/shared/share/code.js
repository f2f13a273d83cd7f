/** The QR code of a link over the whole window, to be read from the back of a hall. */

import { h, icon } from "../kit/dom.js";
import { codePicture } from "./code-picture.js";
import { words } from "../../../text/en/share.js";

/**
 * @param {string} title
 * @param {string} url
 * @param {HTMLElement} opener gets the focus back
 * @param {string} [warning] what whoever reads the code has to know first
 */
export async function showCode(title, url, opener, warning = "") {
  const picture = await codePicture(url, words.codeOf(title));
  const close = h(
    "button",
    { type: "button", class: "hx-icon-button", "aria-label": words.close, onclick: () => dialog.close() },
    icon("remove"),
  );
  const dialog = h(
    "dialog",
    { class: "hx-qr", "aria-label": words.codeOf(title), onclose: () => gone() },
    close,
    picture,
    h("p", { text: title }),
    h("p", { class: "hx-qr-url", text: url }),
    warning ? h("p", { class: "hx-qr-here", role: "alert", text: warning }) : null,
  );
  const gone = () => {
    if (document.fullscreenElement) document.exitFullscreen().catch(() => {});
    dialog.remove();
    opener.focus();
  };
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  opener.closest(".hx-pop")?.append(dialog); // within: focus that left the panel would close it
  dialog.showModal();
  dialog.requestFullscreen?.().catch(() => {}); // not allowed everywhere, and the window is enough
}
