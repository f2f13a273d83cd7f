/** The QR code of a link over the whole window, to be read from the back of a hall. */

import { h, icon } from "../kit/dom.js";
import { words } from "../../../text/en/share.js";
import { svg } from "../kit/svg.js";

/** @param {string} title @param {string} url
 *  @param {HTMLElement} opener gets the focus back
 *  @param {string} [warning] what whoever reads the code has to know first */
export async function showCode(title, url, opener, warning = "") {
  const picture = await codePicture(url, words.codeOf(title));
  const close = h("button.hx-icon-button", { "aria-label": words.close, onclick: () => dialog.close() }, [
    icon("remove"),
  ]);
  const dialog = h("dialog.hx-qr", { "aria-label": words.codeOf(title) }, [
    close,
    picture,
    h("p", title),
    h("p.hx-qr-url", url),
    warning && h("p.hx-qr-here", { role: "alert", text: warning }),
  ]);
  showOverAll(dialog, opener, opener.closest(".hx-pop")); // within: focus that left the panel would close it
}

/** Shows a dialog over the whole screen until it is closed. @param {HTMLDialogElement} dialog
 *  @param {HTMLElement} opener gets the focus back @param {Element|null} place what the dialog is put into */
export function showOverAll(dialog, opener, place) {
  dialog.addEventListener("close", () => {
    if (document.fullscreenElement) document.exitFullscreen().catch(() => {});
    dialog.remove();
    opener.focus();
  });
  dialog.addEventListener("keydown", (event) => event.stopPropagation()); // keys are not the page's
  place?.append(dialog);
  dialog.showModal();
  dialog.requestFullscreen?.().catch(() => {}); // not allowed everywhere, and the window is enough
}

// The QR code of a link as a picture, black on white in any theme; the server draws it.

const QUIET = 4; // modules of white around it, as readers want them

/** @param {string} url @param {string} label what it is of, for those who do not see it */
export async function codePicture(url, label) {
  const { size, path } = await asked(url);
  const side = size + 2 * QUIET;
  const picture = svg("svg", {
    viewBox: `${-QUIET} ${-QUIET} ${side} ${side}`,
    role: "img",
    "aria-label": label,
    "shape-rendering": "crispEdges",
  });
  svg("path", { d: path, fill: "#000" }, picture);
  return picture;
}

/** @param {string} text @returns {Promise<{size: number, path: string}>} */
async function asked(text) {
  const reply = await fetch(new URL("../../../../qr", import.meta.url), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text }),
  });
  if (reply.status === 413) throw new Error(words.codeTooLong);
  if (!reply.ok) throw new Error(words.codeFailed);
  return reply.json();
}
