/** What a visitor presses, scrolls or swipes while the story stands over the page, as words of the story: "on", "back",
 *  "step", "unstep", "leave", "touch". Its keys are its own: the page below hears none of them. */

/** @type {Record<string, string>} */
const KEYS = {
  ...{ " ": "on", ArrowRight: "on", ArrowDown: "on", PageDown: "on", Enter: "on" },
  ...{ ArrowLeft: "back", ArrowUp: "back", PageUp: "back", Backspace: "back", Escape: "leave", Tab: "touch" },
};
const SWIPE = 40; // px
const SCROLL = 30; // px of a wheel
const REST_MS = 600; // until a wheel that still turns counts again

/**
 * What a key means; null for one that is the browser's.
 * @param {{key: string, shiftKey: boolean, altKey: boolean, ctrlKey: boolean, metaKey: boolean}} event
 */
export function meaning({ key, shiftKey, altKey, ctrlKey, metaKey }) {
  if (altKey || ctrlKey || metaKey) return null;
  if (shiftKey && key === "ArrowRight") return "step";
  if (shiftKey && key === "ArrowLeft") return "unstep";
  return KEYS[key] ?? "";
}

/**
 * Listens to keys for as long as the page lives, before any other part of it.
 * @param {() => boolean} open @param {(what: string) => void} does
 */
export function hearKeys(open, does) {
  addEventListener(
    "keydown",
    (event) => {
      const what = open() ? meaning(event) : null;
      if (what === null) return;
      event.stopImmediatePropagation();
      const presses = event.target instanceof HTMLButtonElement && (event.key === " " || event.key === "Enter");
      if (!what || presses) return; // a button is pressed by the browser
      if (what !== "touch") event.preventDefault();
      if (!event.repeat) does(what);
    },
    { capture: true },
  );
}

/** Listens to the wheel and to touches on the story. @param {HTMLElement} el @param {(what: string) => void} does */
export function hearTouches(el, does) {
  let turned = -Infinity; // when the wheel last turned
  el.addEventListener(
    "wheel",
    (event) => {
      if (el.scrollHeight > el.clientHeight + 1 || event.ctrlKey) return; // it scrolls, or zooms
      event.preventDefault();
      const rested = event.timeStamp - turned > REST_MS;
      if (!rested || Math.abs(event.deltaY) < SCROLL) return;
      turned = event.timeStamp;
      does(event.deltaY > 0 ? "on" : "back");
    },
    { passive: false },
  );
  /** @type {Touch|null} */ let from = null;
  el.addEventListener("touchstart", (event) => (from = event.touches.length === 1 ? event.touches[0] : null), {
    passive: true,
  });
  el.addEventListener("touchend", (event) => {
    const to = event.changedTouches[0];
    if (!from || !to) return;
    const [x, y] = [to.clientX - from.clientX, to.clientY - from.clientY];
    from = null;
    if (Math.max(Math.abs(x), Math.abs(y)) < SWIPE) return;
    event.preventDefault(); // no click of it
    does((Math.abs(x) > Math.abs(y) ? x : y) < 0 ? "on" : "back");
  });
  el.addEventListener("click", (event) => {
    if (!(event.target instanceof Element && event.target.closest("button"))) does("on");
  });
}
