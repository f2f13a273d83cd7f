/** What stands one step behind: a heading that opens it, by the browser's own means, so that keys, screen readers and the
 *  search in the page know it. */

import { h } from "./dom.js";

/**
 * @param {string} name in the page and its address @param {string} title @param {Node[]} inside
 * @param {{about?: string, onOpen?: () => void}} [more] about: what is inside, beside the title
 * @returns {HTMLDetailsElement}
 */
export function disclosure(name, title, inside, { about = "", onOpen = () => {} } = {}) {
  const said = about ? h("span", { class: "hx-more-about", text: about }) : null;
  const summary = h("summary", {}, h("h2", { class: "hx-more-title", text: title }), said);
  const el = h(
    "details",
    { class: "hx-more", "data-more": name },
    summary,
    h("div", { class: "hx-more-body" }, ...inside),
  );
  el.addEventListener("toggle", () => el.open && onOpen());
  return /** @type {HTMLDetailsElement} */ (el);
}
