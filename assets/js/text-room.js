/** How much of the text is in sight: a button says when its beginning is above the panel, and the whole text takes the
 *  tower's place, in two columns; one that is longer than that grows down the page. */

import { h } from "./dom.js";

/**
 * @param {HTMLElement} panel
 * @param {HTMLElement} body what the text scrolls in stands in it
 * @param {HTMLElement} view what scrolls
 * @param {HTMLInputElement} tick the switch
 */
export function textRoom(panel, body, view, tick) {
  let shown = null;
  const above = h("button", {
    type: "button",
    class: "hx-quiet hx-above",
    hidden: true,
    text: "\u2191 the text begins above: show all of it",
    onclick: () => {
      set(true);
      tick.focus();
    },
  });
  body.append(above);
  const stage = () => /** @type {HTMLElement} */ (panel.closest(".hx-stage"));
  const flow = /** @type {HTMLElement} */ (view.firstElementChild);
  const look = () => {
    above.hidden = view.scrollTop < 12 || stage().classList.contains("hx-whole");
  };
  /** Two columns, unless the text is too long for them. */
  const fit = () => {
    const { classList } = stage();
    if (!classList.contains("hx-whole")) return;
    if (!classList.contains("hx-long") && flow.scrollWidth > flow.clientWidth + 1) classList.add("hx-long");
  };
  const set = (on) => {
    tick.checked = on;
    stage().classList.remove("hx-long");
    stage().classList.toggle("hx-whole", on);
    fit();
    if (!on) view.scrollTop = view.scrollHeight;
    look();
  };
  view.addEventListener("scroll", look, { passive: true });
  addEventListener("resize", () => set(tick.checked));
  return {
    set,
    update(model) {
      if (model !== shown) stage().classList.remove("hx-long");
      shown = model;
      fit();
      look();
    },
  };
}
