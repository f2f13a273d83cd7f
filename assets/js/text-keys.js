/** Hands on the text: where an arrow key leads, and what a copy holds. */

/** The stop that a key leads to from stop `here` of `count`; null for other keys. */
export function walk(key, here, count) {
  const to = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: count - 1 }[key];
  return to === undefined ? null : Math.min(Math.max(0, to), count - 1);
}

/** A copied selection is the committed text: no ghosts, no tentative tokens, no special tokens. */
export function copyPlain(event) {
  const part = document.createElement("div");
  const selection = getSelection();
  for (let i = 0; i < selection.rangeCount; i++) part.append(selection.getRangeAt(i).cloneContents());
  for (const node of part.querySelectorAll(".hx-ghosts, [data-soft], [data-special]")) node.remove();
  event.clipboardData.setData("text/plain", part.textContent);
  event.preventDefault();
}
