/** Where the nodes of the text stand: in paragraphs, one laid out without the others. What was rejected stands where it
 *  stood, but not before or within a line's indentation, which keeps its columns: there it hangs behind the line before,
 *  and at the text's beginning above the first one. */

import { START } from "./code-lines.js";
import { element } from "../kit/dom.js";

const BEGINNING = "beginning"; // of the text: no newline began its first line

/**
 * What is drawn of an item. `end`: the last node of the paragraphs up to here; `ends`: a paragraph ends behind it; `line`:
 * where a line has only been indented so far, the token that its newline is of, or `BEGINNING`; `hung`: the last that hangs
 * there.
 * @typedef {{key: string, at: number, node: any, end: HTMLElement|null, ends: boolean, line: any,
 *   hung: HTMLElement|null, letters: import("./token/letter-room.js").Letters|null,
 *   place: import("./code-lines.js").Place}} Shown place: what is known of code behind it
 */
/** @type {Shown} */
export const NOTHING = {
  key: "",
  at: -1,
  node: null,
  end: null,
  ends: false,
  line: BEGINNING,
  hung: null,
  letters: null,
  place: START,
};

/**
 * What began the line that stands behind a cell, as long as it has only been indented; null where text stands in it.
 * @template T
 * @param {import("../run/cells.js").Cell} cell
 * @param {T} node the cell's own
 * @param {T|string|null} before what began it behind the cell before
 */
export function indentation({ text, special, partial }, node, before) {
  if (special || partial || /\S/.test(text.slice(text.lastIndexOf("\n") + 1))) return null;
  return text.includes("\n") ? node : before;
}

/** Puts a node behind the last one. @param {HTMLElement} flow @param {HTMLElement} node @param {Shown} last */
export function put(flow, node, last) {
  const behind = last.end ?? last.hung;
  const same = behind !== null && !last.ends;
  const after = same ? behind.parentNode : behind ? behind.parentNode?.nextSibling : flow.firstChild;
  const paragraph = after ?? flow.appendChild(element("div", "hx-par"));
  const next = same ? behind.nextSibling : paragraph.firstChild;
  if (node !== next) paragraph.insertBefore(node, next);
}

/**
 * Hangs ghosts where they do not move the line that they began; false where other text stands in it already.
 * @param {HTMLElement} flow @param {HTMLElement} node @param {Shown} last
 */
export function hang(flow, node, { line, hung }) {
  node.classList.toggle("hx-above-line", line === BEGINNING);
  if (line === null) return false;
  const behind = hung ?? (line === BEGINNING ? null : line.childNodes[1]);
  if (behind === null) {
    const first = flow.firstChild ?? flow.appendChild(element("div", "hx-par"));
    if (first.firstChild !== node) first.insertBefore(node, first.firstChild);
  } else if (behind.nextSibling !== node) behind.after(node);
  return true;
}
