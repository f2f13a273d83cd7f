/** Where the letters below a token go: a narrow token's are squeezed, are left out where they would only repeat those
 *  before them, or reach below the next token, whose own then begin behind them. The text itself gives no room for them:
 *  it is drawn with its own spaces and no others. Widths are estimated, in em of the text. */

const LETTER = 0.44; // the widest at any size of the window: 0.602 of 16 px, below a text of 22 px
const CODE = 0.92; // size of code, beside that of words
const COLUMN = 0.6; // of code
const LEAST = 0.6; // of its width, so that a squeezed letter can still be read
const GLYPH = 0.6; // a newline's
const LINE = 9; // as much as letters could want
const HAIR = /['|ijl]/;
const THIN = /[\s.,:;!`I()[\]{}/\\ftr"-]/;

/**
 * `shown`: the letters, none where they are left out; `at`: how many letters' widths behind the token's beginning;
 * `squeeze`: of their width; `over`: how far they reach beyond the token; `letters`: what they say.
 * @typedef {{shown: string, at: number, squeeze: number, over: number, letters: string}} Letters
 */

/**
 * @param {import("../../run/cells.js").Cell} cell
 * @param {string} letters
 * @param {Letters|null} before those of the token before; null where something else stands between
 * @param {number} gap what stays blank behind the cell, in em
 * @param {boolean} [code] whether it stands in a line of code
 * @returns {Letters}
 */
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

/** What stays blank before the text of the cell that follows: a line's rest where none does. @param {{cell?: import("../../run/cells.js").Cell}|undefined} next @param {boolean} [code] */
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
