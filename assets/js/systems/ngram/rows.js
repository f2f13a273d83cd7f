/** Lists whose rows stay as long as what they say: per frame only what changed is made again. */

/**
 * @typedef {{key: string, sign: string, make: () => HTMLElement}} Row sign: what it says; the same sign, the same element
 * @type {WeakMap<Element, Map<string, {sign: string, el: HTMLElement}>>}
 */
const drawn = new WeakMap();

/** Shows these rows in this order. @param {Element} list @param {Row[]} rows @returns {number} how many were made */
export function showRows(list, rows) {
  const old = drawn.get(list) ?? new Map();
  /** @type {Map<string, {sign: string, el: HTMLElement}>} */ const now = new Map();
  let made = 0;
  for (const { key, sign, make } of rows) {
    const before = old.get(key);
    const same = before?.sign === sign;
    if (!same) made += 1;
    const el = same ? before.el : make();
    if (before && !same && before.el.contains(document.activeElement)) {
      before.el.replaceWith(el); // the focus stays on the row
      /** @type {HTMLElement|null} */ (el.querySelector("button"))?.focus({ preventScroll: true });
    }
    now.set(key, { sign, el });
  }
  for (const [key, { el }] of old) if (now.get(key)?.el !== el) el.remove();
  let next = list.firstElementChild;
  for (const { el } of now.values()) {
    if (el === next) next = next.nextElementSibling;
    else list.insertBefore(el, next);
  }
  drawn.set(list, now);
  return made;
}
