/** Where the nodes of the text stand: in paragraphs, one laid out without the others. What was rejected stands where it
 *  stood, but not before or within a line's indentation, which keeps its columns: there it hangs behind the line before,
 *  and at the text's beginning above the first one. */

import { element } from "../kit/dom.js";
import { upTo } from "../kit/order.js";
import { splitCells } from "../run/cells.js";

const BEGINNING = "beginning"; // of the text: no newline began its first line

/** What is drawn of an item. `end`: the last node of the paragraphs up to here; `ends`: a paragraph ends behind it; `line`:
 *  where a line has only been indented so far, the token that its newline is of, or `BEGINNING`; `hung`: the last that hangs
 *  there.
 *  @typedef {{key: string, at: number, node: any, end: HTMLElement|null, ends: boolean, line: HTMLElement|string|null,
 *    hung: HTMLElement|null, letters: Letters|null,
 *    place: Place}} Shown place: what is known of code behind it */
/** What began the line that stands behind a cell, as long as it has only been indented; null where text stands in it.
 *  @template T @param {import("../run/cells.js").Cell} cell
 *  @param {T} node the cell's own
 *  @param {T|string|null} before what began it behind the cell before */
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

/** Hangs ghosts where they do not move the line that they began; false where other text stands in it already.
 *  @param {HTMLElement} flow @param {HTMLElement} node @param {Shown} last */
export function hang(flow, node, { line, hung }) {
  node.classList.toggle("hx-above-line", line === BEGINNING);
  if (line === null) return false;
  const behind = hung ?? (typeof line === "string" ? null : line.childNodes[1]);
  if (behind === null) {
    const first = flow.firstChild ?? flow.appendChild(element("div", "hx-par"));
    if (first.firstChild !== node) first.insertBefore(node, first.firstChild);
  } else if (behind.nextSibling !== node) behind.after(node);
  return true;
}

// ---- What the text shows at a moment: cells of tokens, and between them the rejected drafts of each place.

/** @typedef {import("../run/trace.js").TraceModel} TraceModel */
/** @typedef {import("../run/records.js").TokenRecord} TokenRecord */
/** @typedef {{key: string, at: number, cell?: import("../run/cells.js").Cell, heads?: TokenRecord[]}} Item */

/** Items from a committed position on, by position; `heads` are rejected records of one place, oldest first.
 *  @param {TraceModel} model
 *  @param {number} cursor ns
 *  @param {number} from where a cell begins
 *  @param {number} committed tokens up to the cursor
 *  @param {boolean} haunted whether rejected drafts are shown @returns {Item[]} */
export function wanted(model, cursor, from, committed, haunted) {
  const rest = model.committed.slice(from, committed).map((serial) => model.tokens.get(serial));
  const records = [...rest, ...model.aliveAt(cursor)].filter((record) => record !== undefined);
  const ghosts = haunted ? ghostsFrom(model, cursor, from) : new Map();
  /** @type {Item[]} */ const items = [];
  let at = from;
  for (const cell of splitCells(records, (id) => model.piece(id))) {
    const next = at + cell.serials.length;
    for (; at < next; at++)
      if (ghosts.has(at)) items.push({ key: `g${at}`, at, heads: ghosts.get(at) }), ghosts.delete(at);
    items.push({ key: `t${cell.serials[0]}`, at: next - cell.serials.length, cell });
  }
  for (const [place, heads] of [...ghosts].sort((a, b) => a[0] - b[0]))
    items.push({ key: `g${place}`, at: place, heads });
  return items;
}

/** @param {TraceModel} model @param {number} cursor @param {number} from */
function ghostsFrom(model, cursor, from) {
  /** @type {Map<number, TokenRecord[]>} */ const found = new Map();
  for (const [at, record] of model.ghostsFrom(cursor, from)) {
    const heads = found.get(at);
    if (heads) heads.push(record);
    else found.set(at, [record]);
  }
  return found;
}

/** Where what may differ begins: the last cell boundary at or before n committed tokens, and one cell back.
 *  @param {TraceModel} model @param {number} n */
export function cellStart({ cellStarts, committed }, n) {
  const cell = n < committed.length ? upTo(cellStarts, n, (at) => at) - 1 : cellStarts.length;
  // A character may still be joined to the cell before the boundary.
  return cellStarts[Math.max(0, cell - 1)] ?? 0;
}

// ---- Which lines of the text are code, said by the text alone, as far as it is written: what stands between fences of
// backticks, lines that begin as a program's do and no sentence does, and what is indented below those.

/** What is known at a place of the text. `line`: its own so far; `code`: whether it is code; `fenced`: whether a fence was
 *  open before it; `above`: whether the last line with words was code; `list`: whether that belongs to a list; `blank`:
 *  whether nothing or an empty line stands right above.
 *  @typedef {{line: string, code: boolean, fenced: boolean, above: boolean, list: boolean, blank: boolean}} Place */
/** @type {Readonly<Place>} */
export const START = Object.freeze({ line: "", code: false, fenced: false, above: false, list: false, blank: true });

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

const FENCE = /^ {0,3}(```|~~~)/;
const ITEM = /^\s*([-*+\u2022]|\d+[.)])(\s|$)/;
const INDENTED = /^( {4}|\t)/;
const STATEMENT =
  /^\s*(def \w|async def |class \w+ ?[:({]|import (\w+(\.\w+)*( as \w+)?;?$|[\w.]*\.\*|[{"*])|from [\w.]+ import\b|if __name__|#include|#!|function \w*\(|(const|let|var) \w+ =|(public|private|static) \w|(int|void|char|double|float|bool|auto) \w+\(|fn \w+[(<]|func \w+\(|package \w+;|using [\w.:]+;|(for|while|if|switch) \(|@\w+(\(|$))/;
const GOES_ON =
  /^\s*([\w.[\]]+ ?[-+*/]?= |[\w.]+\(|#|\/\/|[{}\])]|(return|else|elif|except|try|with|for|while|if|print|raise|pass|break)\b)/;

/** The place behind a piece of text. @param {Place} from @param {string} text @returns {Place} */
export function behind(from, text) {
  const [first, ...rest] = text.split("\n");
  let at = going(from, first);
  for (const line of rest) at = going(ended(at), line);
  return at;
}

/** The line goes on. @param {Place} at @param {string} text @returns {Place} */
function going(at, text) {
  const line = at.line + text;
  return { ...at, line, code: at.fenced || FENCE.test(line) || (line.trim() === "" ? at.above : isCode(at, line)) };
}

/** @param {Place} at @param {string} line with words, outside of fences */
function isCode({ above, list, blank }, line) {
  if (STATEMENT.test(line)) return true;
  if (above && !blank && GOES_ON.test(line)) return true;
  return INDENTED.test(line) && !ITEM.test(line) && (above || (blank && !list));
}

/** The next line begins. @param {Place} at @returns {Place} */
function ended({ line, code, fenced, above, list }) {
  const fence = FENCE.test(line);
  const blank = line.trim() === "";
  return {
    line: "",
    code: false,
    fenced: fence ? !fenced : fenced,
    above: blank ? above : code && !fence,
    list: blank ? list : ITEM.test(line) || (list && INDENTED.test(line)),
    blank,
  };
}

// ---- Where the letters below a token go: a narrow token's are squeezed, are left out where they would only repeat those
// before them, or reach below the next token, whose own then begin behind them. The text itself gives no room for them:
// it is drawn with its own spaces and no others. Widths are estimated, in em of the text.

const LETTER = 0.44; // the widest at any size of the window: 0.602 of 16 px, below a text of 22 px
const CODE = 0.92; // size of code, beside that of words
const COLUMN = 0.6; // of code
const LEAST = 0.6; // of its width, so that a squeezed letter can still be read
const GLYPH = 0.6; // a newline's
const LINE = 9; // as much as letters could want
const HAIR = /['|ijl]/;
const THIN = /[\s.,:;!`I()[\]{}/\\ftr"-]/;

/** `shown`: the letters, none where they are left out; `at`: how many letters' widths behind the token's beginning;
 *  `squeeze`: of their width; `over`: how far they reach beyond the token; `letters`: what they say.
 *  @typedef {{shown: string, at: number, squeeze: number, over: number, letters: string}} Letters */

/** @param {import("../run/cells.js").Cell} cell @param {string} letters
 *  @param {Letters|null} before those of the token before; null where something else stands between
 *  @param {number} gap what stays blank behind the cell, in em
 *  @param {boolean} [code] whether it stands in a line of code @returns {Letters} */
export function letterRoom({ text, special, partial }, letters, before, gap, code = false) {
  const told = { shown: letters, at: 0, squeeze: 1, over: 0, letters };
  if (!letters || special) return told;
  const [, lead, body, trail] = text.match(/^(\s*)([^]*?)(\s*)$/) ?? ["", "", text, ""];
  const ends = (body ? trail : lead).includes("\n");
  const width = code ? columns : wide;
  const letter = code ? LETTER / CODE : LETTER;
  const own = body ? width(body) : ends || partial ? GLYPH : width(lead);
  const start = Math.max(0, (before?.over ?? 0) - (!body ? 0 : lead.includes("\n") ? LINE : width(lead)));
  const need = letter * letters.length;
  const room = own + (ends ? LINE : width(trail) + gap) - start;
  const blank = ends ? LINE : body ? width(trail) : 0;
  const over = (/** @type {number} */ reach) => Math.max(0, start + reach - own - blank);
  if (room < LEAST * need && before?.letters === letters) return { ...told, shown: "", over: over(0) };
  const squeeze = Math.min(1, Math.max(LEAST, room / need));
  return { ...told, at: start / letter, squeeze, over: over(squeeze * need) };
}

/** What stays blank before the text of the cell that follows: a line's rest where none does. @param {{cell?: import("../run/cells.js").Cell}|undefined} next @param {boolean} [code] */
export function gapBefore(next, code = false) {
  if (!next) return LINE;
  const lead = next.cell?.text.match(/^\s*/)?.[0] ?? (code ? "" : " "); // beside ghosts
  return lead === next.cell?.text ? 0 : lead.includes("\n") ? LINE : (code ? columns : wide)(lead); // white space alone is drawn as a token
}

/** @param {string} text */
const columns = (text) => [...text].reduce((sum, c) => sum + (c === "\t" ? 4 : c < "\u1100" ? 1 : 2) * COLUMN, 0);

/** @param {string} text */
const wide = (text) =>
  [...text].reduce((sum, c) => sum + (HAIR.test(c) ? 0.22 : THIN.test(c) ? 0.28 : c < "\u0100" ? 0.52 : 0.9), 0);
