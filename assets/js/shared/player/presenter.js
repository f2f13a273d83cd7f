/** Presenting: the page read from the back of a room. P turns it on and off anywhere but in a field, Escape turns it off.
 *   What other parts may rely on while it is on: the class `hx-presenting` on the root element, `presenting()`, and
 *   `onPresenting`. Answers are hidden until they are asked for: a part that holds some hides them on `onPresenting`. */

import { h, icon } from "../kit/dom.js";
import { WORDS } from "../../../text/en/presenter.js";

const CLASS = "hx-presenting";
const EVENT = "hx:presenting"; // on the document; its detail: whether the page is presented
const FIELDS = "input:not(.hx-transport-slider), textarea, select, [contenteditable=''], [contenteditable='true']";
/** Where keys have a meaning of their own: a lesson, lists that are open, and what asks for an answer. */
const OWN =
  ".hx-lesson, .hx-room, .hx-pop-panel, dialog, [role=dialog], [role=listbox], [role=menu], [role=radiogroup]";

/** Whether the page is presented now. */
export const presenting = () => document.documentElement.classList.contains(CLASS);

/** Turns it on or off. @param {boolean} on */
export function present(on) {
  if (on === presenting()) return;
  document.documentElement.classList.toggle(CLASS, on);
  document.dispatchEvent(new CustomEvent(EVENT, { detail: on }));
}

/** Calls `f` whenever it is turned on or off. @param {(on: boolean) => void} f
 *  @returns {() => void} ends the calls */
export function onPresenting(f) {
  const listener = (/** @type {any} */ event) => f(event.detail);
  document.addEventListener(EVENT, listener);
  return () => document.removeEventListener(EVENT, listener);
}

/** The button that turns it on, and off while it is on. */
export function presenterButton() {
  const button = h(
    "button.hx-icon-button.hx-present",
    {
      "aria-label": WORDS.name,
      "aria-pressed": String(presenting()),
      "aria-keyshortcuts": "P",
      "data-tip": WORDS.tip,
      onclick: () => present(!presenting()),
    },
    icon("present"),
  );
  onPresenting((on) => button.setAttribute("aria-pressed", String(on)));
  return button;
}

/** The keys: P, Escape; while presenting the player's, wherever the focus is.
 *  @param {{player: import("./player.js").Player, inSight: () => boolean}} ctx inSight: whether the run can be seen */
export function presenterKeys({ player, inSight }) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.repeat || modified(event) || inField(event.target)) return;
    if (event.key === "Escape" && presenting()) present(false);
    else if (event.key.toLowerCase() === "p" && !event.shiftKey) present(!presenting());
    else return;
    event.preventDefault();
  });
  // Before any part of the page: whatever was pressed last has the focus, and must not keep the keys.
  addEventListener(
    "keydown",
    (event) => {
      if (!presenting() || !inSight() || modified(event) || inField(event.target) || owned(event.target)) return;
      if (!drive(player, event)) return;
      event.preventDefault();
      event.stopPropagation();
    },
    { capture: true },
  );
  // A button that has the focus is pressed when Space comes up.
  addEventListener(
    "keyup",
    (event) => {
      if (event.key === " " && presenting() && inSight() && !inField(event.target) && !owned(event.target))
        event.preventDefault();
    },
    { capture: true },
  );
}

/** @type {Record<string, 1|-1>} */
const KEYS = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1 };

/** Arrows, and the keys of a remote control. Returns whether the key was one of them.
 *  @param {import("./player.js").Player} player @param {KeyboardEvent} event */
function drive(player, { key, shiftKey, repeat }) {
  const direction = KEYS[key];
  if (direction && shiftKey) player.stepEvent(direction);
  else if (direction) player.step(direction);
  else if (key === " ") repeat || player.toggle();
  else return false;
  return true;
}

const modified = (/** @type {KeyboardEvent} */ event) => event.altKey || event.ctrlKey || event.metaKey;
/** @param {EventTarget|null} target */
const inField = (target) => target instanceof Element && target.closest(FIELDS) !== null;
const owned = (/** @type {EventTarget|null} */ target) => target instanceof Element && target.closest(OWN) !== null;
