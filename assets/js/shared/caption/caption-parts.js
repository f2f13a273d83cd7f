/** What a caption is made of: text, levels and tokens; how they fill a sentence, and how it is read out. */

import { HEARD, LIST } from "../../../text/en/caption.js";
import { duration, figure, rounded } from "../../../text/numbers.js";

/** @typedef {import("../run/trace.js").TraceModel} TraceModel */
/**
 * @typedef {string | {level: number, named: boolean, block?: number} | {token: number, level: number, state: string}} Part
 *   named: with its name; block: with its T. token: its id; level: who supplied it; state: "" | rejected
 * @typedef {Record<string, string | number | Part | Part[]>} Slots
 */

const LONGEST = 36; // letters of a run of tokens that is shown
const LONGEST_TOKEN = 18;

/** @param {number} index @param {boolean} named */
export const level = (index, named = true) => ({ level: index, named });
/** @param {number} id @param {number} by */
export const token = (id, by, state = "") => ({ token: id, level: by, state });

/** Tokens of the text one after the other; a long run is cut. @param {TraceModel} model */
export function run(model, /** @type {{id: number, level: number}[]} */ records) {
  let letters = 0;
  const shown = records.filter((x, i) => (letters += model.pieceText(x.id).length) <= LONGEST || i === 0);
  const rest = records.length - shown.length;
  return [...shown.map((x) => token(x.id, x.level)), ...(rest ? fill(LIST.more, { count: rest }) : [])];
}

/** @param {Part[]} parts */
export const listed = (parts) =>
  parts.flatMap((part, i) => (i ? [i === parts.length - 1 ? LIST.and : ", ", part] : [part]));

/** A sentence with its slots filled. @param {string} sentence @param {Slots} slots @returns {Part[]} */
export function fill(sentence, slots) {
  return sentence.split(/\{(\w+)\}/).flatMap((text, i) => {
    if (i % 2 === 0) return text ? [text] : [];
    const value = slots[text] ?? "";
    return /** @type {Part[]} */ (Array.isArray(value) ? value : [typeof value === "number" ? String(value) : value]);
  });
}

/** A token as it is shown: without the dot of its first space, cut where it is long. @param {TraceModel} model */
export function tokenText(model, /** @type {number} */ id) {
  const text = model.pieceText(id).replace(/^\u00b7(?=.)/, "") || "\u2205";
  return [...text].length > LONGEST_TOKEN ? `${[...text].slice(0, LONGEST_TOKEN - 1).join("")}\u2026` : text;
}

/** A caption as it is read out: names instead of letters, tokens in quotes. @param {TraceModel} model @param {Part[]} parts */
export function plain(model, parts) {
  return parts
    .map((part, i) => {
      if (typeof part === "string") return part;
      if ("level" in part && "named" in part) {
        const { name } = model.levels[part.level];
        return part.block === undefined ? name : `${name}, T ${part.block}`;
      }
      const text = tokenText(model, part.token)
        .replaceAll("\u21b5", HEARD.newline)
        .replace(/\u00b7{2,}/g, HEARD.spaces)
        .replace(/^\u00b7$/, HEARD.space)
        .replaceAll("\u00b7", " ")
        .trim();
      const before = parts[i - 1];
      const after = parts[i + 1];
      const [open, close] = HEARD.quote;
      /** @param {Part|undefined} other */
      const joined = (other) => other !== undefined && typeof other !== "string" && "token" in other;
      return `${joined(before) ? "" : open}${text}${joined(after) ? " " : close}`;
    })
    .join("")
    .replace(/ {2,}/g, " ");
}

export const share = (/** @type {number|null|undefined} */ x) => {
  if (x === null || x === undefined) return "\u2013";
  if (x === 0 || x === 1) return String(x);
  return x < 0.001 ? "<0.001" : x > 0.99 ? ">0.99" : String(Number(x.toPrecision(2)));
};
/** Two figures with as many digits as tell them apart. @param {number} a @param {number} b */
export function apart(a, b) {
  const [x, y] = [share(a), share(b)];
  return x === y && a !== b ? [figure(a), figure(b)] : [x, y];
}

export const rate = (/** @type {number} */ x) => rounded(x);
export const seconds = duration;
