/** From tokens' bytes to what can be shown. A *cell* is the smallest run of tokens whose bytes end where a
 *  character ends: an emoji or a CJK character that was split over three tokens is one cell of three. */

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Bytes of a base64 string. @param {string} b64 */
export function bytesOf(b64) {
  const raw = atob(b64);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

/** Decodes bytes; what is not UTF-8 becomes U+FFFD, which the page shows as such. @param {Uint8Array} bytes */
export function decode(bytes) {
  return decoder.decode(bytes);
}

/** Bytes as they are written in a card: \u2039E9 80\u203a. @param {Uint8Array} bytes */
export function hex(bytes) {
  return `\u2039${[...bytes].map((b) => b.toString(16).toUpperCase().padStart(2, "0")).join(" ")}\u203a`;
}

/** How many bytes at the end begin a character that they do not finish. @param {Uint8Array} bytes */
function unfinished(bytes) {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const b = bytes[bytes.length - back];
    if ((b & 0xc0) === 0x80) continue;
    const need = b >= 0xf0 && b <= 0xf4 ? 4 : b >= 0xe0 && b < 0xf0 ? 3 : b >= 0xc2 && b < 0xe0 ? 2 : 1;
    return need > back ? back : 0;
  }
  return 0;
}

/** @typedef {{bytes: Uint8Array, special: boolean}} Piece */
/** @typedef {{serials: number[], text: string, special: boolean, partial: boolean, bytes: Uint8Array}} Cell */

/** Groups consecutive tokens into cells. @param {{serial: number, id: number}[]} records
 *  @param {(id: number) => Piece} pieceOf
 *  @param {Cell[]} [cells] earlier cells to go on from; the last one may grow @returns {Cell[]} */
export function splitCells(records, pieceOf, cells = []) {
  for (const record of records) {
    const piece = pieceOf(record.id);
    const last = cells[cells.length - 1];
    if (last && belongs(last, piece)) {
      const bytes = new Uint8Array(last.bytes.length + piece.bytes.length);
      bytes.set(last.bytes);
      bytes.set(piece.bytes, last.bytes.length);
      cells[cells.length - 1] = cell([...last.serials, record.serial], bytes, false);
    } else {
      if (last?.partial) cells[cells.length - 1] = { ...last, text: decode(last.bytes), partial: false };
      cells.push(cell([record.serial], piece.bytes, piece.special));
    }
  }
  return cells;
}

/** @param {number[]} serials @param {Uint8Array} bytes @param {boolean} special @returns {Cell} */
function cell(serials, bytes, special) {
  const open = special ? 0 : unfinished(bytes);
  const text = decode(open ? bytes.subarray(0, bytes.length - open) : bytes);
  return { serials, bytes, text, special, partial: open > 0 };
}

/** Whether a token continues the character (or the grapheme) that the cell before it began. @param {Cell} last
 *  @param {Piece} piece */
function belongs(last, piece) {
  if (last.special || piece.special || piece.bytes.length === 0) return false;
  if (last.partial) return (piece.bytes[0] & 0xc0) === 0x80;
  if (piece.bytes[0] < 0x80) return false;
  const begins = last.text.length;
  return graphemes.segment(last.text + decode(piece.bytes)).containing(begins)?.index !== begins;
}

/** @type {Record<string, string>} */
const NAMED = { "\n": "\u21b5", "\t": "\u21e5", " ": "\u00b7", "\r": "\u240d", "\u00a0": "\u237d" };

/** Text in which white space and control characters can be seen: for cards, ghosts and bars. @param {string} text */
export function visible(text) {
  return text
    .replace(/[\n\t\r \u00a0]/g, (c) => NAMED[c])
    .replace(
      /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g,
      (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
}
