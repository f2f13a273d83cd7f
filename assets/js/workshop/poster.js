/** The way into the room, to be read from the back of a hall: its address, its code, and a QR code of both. */

import { h, icon } from "../shared/kit/dom.js";
import { codePicture } from "../shared/share/code-picture.js";
import { WORKSHOP } from "../../text/en/workshop.js";

const LOCAL = /^(localhost|127(\.\d+){3}|\[::1\])(:|$)/; // of a host: nobody else reaches it
const words = WORKSHOP.poster;

/** The page's address for learners: this window's own, unless that is of this machine alone. @param {string} told */
export const pageAddress = (told) => (LOCAL.test(location.host) && told ? told : location.origin + location.pathname);

/** What the class has to be told of an address that only this machine can open, "" of another. @param {string} page */
export const warningOf = (page) => (LOCAL.test(new URL(page).host) ? words.here : "");

/**
 * @param {import("./room.js").Told} told @param {HTMLElement} opener gets the focus back
 */
export function showPoster({ code = "", address = "" }, opener) {
  const page = pageAddress(address);
  const close = h(
    "button",
    { type: "button", class: "hx-room-close", "aria-label": words.close, onclick: () => dialog.close() },
    icon("remove"),
  );
  const picture = h("div", { class: "hx-room-qr" });
  const dialog = h(
    "dialog",
    { class: "hx-room-poster", "aria-label": words.title, onclose: () => gone() },
    close,
    picture,
    h(
      "div",
      { class: "hx-room-way" },
      h("p", { text: words.open }),
      h("p", { class: "hx-room-address", text: page.replace(/^http:\/\/|\/$/g, "") }),
      h("p", { text: words.enter }),
      h("p", { class: "hx-room-word", text: code }),
      warningOf(page) ? h("p", { class: "hx-room-here", role: "alert", text: warningOf(page) }) : null,
    ),
  );
  const gone = () => {
    if (document.fullscreenElement) document.exitFullscreen().catch(() => {});
    dialog.remove();
    opener.focus();
  };
  dialog.addEventListener("keydown", (event) => event.stopPropagation()); // they are not the page's
  codePicture(`${page}?room=${encodeURIComponent(code)}`, words.label).then(
    (drawn) => picture.append(drawn),
    () => picture.append(h("p", { text: words.failed })),
  );
  document.body.append(dialog);
  dialog.showModal();
  dialog.requestFullscreen?.().catch(() => {}); // not allowed without a press, and the window is enough
}
