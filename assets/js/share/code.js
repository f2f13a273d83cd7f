/** The QR code of a link over the whole window, black on white in any theme, to be read from the back of a hall. */

import { h, icon } from "../kit/dom.js";
import { svg } from "../kit/svg.js";
import { words } from "../words/share.js";

const QUIET = 4; // modules of white around it, as readers want them

/**
 * @param {string} title
 * @param {string} url
 * @param {HTMLElement} opener gets the focus back
 */
export async function showCode(title, url, opener) {
  const { size, path } = await asked(url);
  const side = size + 2 * QUIET;
  const picture = svg("svg", {
    viewBox: `${-QUIET} ${-QUIET} ${side} ${side}`,
    role: "img",
    "aria-label": words.codeOf(title),
    "shape-rendering": "crispEdges",
  });
  svg("path", { d: path, fill: "#000" }, picture);
  const close = h(
    "button",
    { type: "button", class: "hx-icon-button", "aria-label": words.close, onclick: () => dialog.close() },
    icon("remove"),
  );
  const dialog = h(
    "dialog",
    { class: "hx-code", "aria-label": words.codeOf(title), onclose: () => gone() },
    close,
    picture,
    h("p", { text: title }),
    h("p", { class: "hx-code-url", text: url }),
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

/** @param {string} text @returns {Promise<{size: number, path: string}>} */
async function asked(text) {
  const reply = await fetch(new URL("../../../qr", import.meta.url), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text }),
  });
  if (reply.status === 413) throw new Error(words.codeTooLong);
  if (!reply.ok) throw new Error(words.codeFailed);
  return reply.json();
}
