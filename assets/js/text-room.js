/** How much of the text is in sight: the panel's head says when the beginning is above it, and the whole text takes the
 *  tower's place, in two columns; one that is longer than that grows down the page. */

/**
 * @param {HTMLElement} panel
 * @param {HTMLElement} view what scrolls
 * @param {HTMLInputElement} tick the switch
 */
export function textRoom(panel, view, tick) {
  let shown = null;
  const stage = () => /** @type {HTMLElement} */ (panel.closest(".hx-stage"));
  const flow = /** @type {HTMLElement} */ (view.firstElementChild);
  const look = () => {
    panel.classList.toggle("hx-begun", view.scrollTop > 12 && !stage().classList.contains("hx-whole"));
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
