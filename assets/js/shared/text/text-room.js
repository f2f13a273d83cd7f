/** How much of the text is in sight: the panel's head says when the beginning is above it, and the whole text takes the
 *  tower's place, in two columns; one that is longer than that grows down the page. */

const GROWTH = 1.1;

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
  /** Two columns, as high as their text needs; they grow by a part at a time, so that lines seldom change columns. */
  const fit = () => {
    const { classList } = stage();
    if (!classList.contains("hx-whole")) return;
    for (let height = flow.clientHeight; flow.scrollWidth > flow.clientWidth + 1; height *= GROWTH) {
      classList.add("hx-long");
      flow.style.height = `${Math.ceil(height)}px`;
    }
  };
  const loosen = () => {
    stage().classList.remove("hx-long");
    flow.style.height = "";
  };
  const set = (on) => {
    tick.checked = on;
    loosen();
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
      if (model !== shown) loosen();
      shown = model;
      fit();
      look();
    },
  };
}
