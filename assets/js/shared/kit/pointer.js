/** Whether something was pointed at. Another tab that a button opens is drawn below a pointer that rests: what comes to
 *  lie there was not pointed at, until the pointer moves. */

let now = ""; // where the pointer is
let resting = "none"; // where it was when the tab was opened

const place = (/** @type {PointerEvent} */ { clientX, clientY }) => `${clientX} ${clientY}`;

for (const kind of /** @type {const} */ (["pointermove", "pointerdown"]))
  globalThis.addEventListener?.(kind, (event) => (now = place(event)), { capture: true, passive: true });

/** What lies below the pointer changes, and not because it moves. */
export function rest() {
  resting = now;
}

/** @param {PointerEvent} event that says what the pointer is over */
export function pointed(event) {
  if (place(event) === resting) return false;
  resting = "none";
  return true;
}
