/** Moving the floors of the tower with mouse, pen or finger: press a grip, carry the floor, let go over another. */

import { closest } from "../../../shared/kit/dom.js";

const SLACK = 4; // px before a press becomes a drag

/** @param {HTMLElement} list of floors, each with `data-position`; their grips are `.hx-grip`
 *  @param {(from: number, to: number) => void} onDrop */
export function reorder(list, onDrop) {
  /** @typedef {{floor: HTMLElement, grip: HTMLElement, id: number, y: number, moved: boolean, over: HTMLElement|null}} Held
   *  @type {Held|null} */
  let held = null;

  list.addEventListener("pointerdown", (event) => {
    const grip = closest(event, ".hx-grip");
    const floor = grip?.closest(".hx-floor");
    if (!(floor instanceof HTMLElement) || !grip || event.button !== 0) return;
    held = { floor, grip, id: event.pointerId, y: event.clientY, moved: false, over: null };
    grip.setPointerCapture(event.pointerId);
  });
  list.addEventListener("pointermove", (event) => {
    if (!held || event.pointerId !== held.id) return;
    const dy = event.clientY - held.y;
    if (!held.moved && Math.abs(dy) < SLACK) return;
    held.moved = true;
    held.floor.classList.add("hx-carried");
    held.floor.style.translate = `0 ${Math.round(dy)}px`;
    aim(floorAt(list, event.clientY, held.floor));
  });
  list.addEventListener("pointerup", (event) => {
    if (!held || event.pointerId !== held.id) return;
    const { floor, moved, over } = held;
    release();
    if (moved && over) onDrop(Number(floor.dataset.position), Number(over.dataset.position));
  });
  list.addEventListener("pointercancel", release);
  // Escape puts the floor back; then it means nothing else.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !held?.moved) return;
    event.preventDefault();
    release();
  });

  function aim(/** @type {HTMLElement|null} */ over) {
    if (!held || over === held.over) return;
    held.over?.classList.remove("hx-aim");
    over?.classList.add("hx-aim");
    held.over = over;
  }

  function release() {
    if (!held) return;
    aim(null);
    held.floor.classList.remove("hx-carried");
    held.floor.style.translate = "";
    held = null;
  }
}

/** The floor at a height of the window, the carried one left out; above the first one and below the last one count too. */
function floorAt(/** @type {HTMLElement} */ list, /** @type {number} */ y, /** @type {HTMLElement} */ carried) {
  const floors = [.../** @type {NodeListOf<HTMLElement>} */ (list.querySelectorAll(":scope > .hx-floor"))].filter(
    (floor) => floor !== carried,
  );
  /** @type {HTMLElement|null} */ let best = null;
  let nearest = Infinity;
  for (const floor of floors) {
    const { top, bottom } = floor.getBoundingClientRect();
    const off = Math.max(top - y, y - bottom, 0);
    if (off < nearest) [best, nearest] = [floor, off];
  }
  const own = carried.offsetTop - list.offsetTop;
  const at = y - list.getBoundingClientRect().top;
  return at > own && at < own + carried.offsetHeight ? null : best;
}
