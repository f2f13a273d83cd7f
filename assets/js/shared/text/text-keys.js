/** Hands on the text: where an arrow key leads, and what a copy holds. */

/**
 * The stop that a key leads to from stop `here` of `count`; null for other keys.
 * @param {string} key
 * @param {number} here
 * @param {number} count
 */
export function walk(key, here, count) {
  /** @type {Record<string, number|undefined>} */
  const stops = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: count - 1 };
  const to = stops[key];
  return to === undefined ? null : Math.min(Math.max(0, to), count - 1);
}

/**
 * A copied selection is the committed text: no ghosts, no tentative tokens, no special tokens.
 * @param {ClipboardEvent} event
 */
export function copyPlain(event) {
  const part = document.createElement("div");
  const selection = getSelection();
  for (let i = 0; selection && i < selection.rangeCount; i++) part.append(selection.getRangeAt(i).cloneContents());
  for (const node of part.querySelectorAll(".hx-ghosts, .hx-tree, [data-soft], [data-special]")) node.remove();
  event.clipboardData?.setData("text/plain", part.textContent ?? "");
  event.preventDefault();
}
