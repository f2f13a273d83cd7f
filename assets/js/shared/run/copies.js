/** What a text repeats and what it answers: where drafted tokens were copied from, and the prompt out of its ids. */

import { decode, splitCells } from "./cells.js";
import { PLACES } from "../../../text/en/caption.js";

/** @import {TokenRecord} from "./records.js" @import {TraceModel} from "./trace.js" */

const BEFORE = 8; // tokens of the text that are shown around a copy's origin
const AFTER = 4;

/** Whether the copy has the larger part in a drafted token's probability. @param {TokenRecord} record */
export const isCopy = (record) => (record.copied?.share ?? 0) >= 0.5;

/** Where a drafted token was copied from. @param {TraceModel} model @param {TokenRecord} record
 *  @returns {{where: string, before: string, token: string, after: string, serial: number|null} | null} the text around
 *      the origin, and the origin's serial when it is a token of the output */
export function origin(model, record) {
  const copied = record.copied;
  const found = copied && tokenAt(model, copied.at, record);
  if (!found) return null;
  const text = (/** @type {number} */ lo, /** @type {number} */ hi) => {
    const tokens = [];
    for (let at = lo; at < hi; at++) tokens.push(tokenAt(model, at, record) ?? []);
    return written(model, tokens.flat());
  };
  const { at } = copied;
  const [from, to] = at < 0 ? [-Infinity, 0] : [0, record.at]; // prompt and output are two texts to a reader
  return {
    where: at < 0 ? PLACES.prompt : PLACES.text,
    before: text(Math.max(from, at - BEFORE), at),
    token: text(at, at + 1),
    after: text(at + 1, Math.min(to, at + 1 + AFTER)),
    serial: found.serial,
  };
}

/** What stood at a position when `record` was drafted: {id, serial}; positions before 0 are the prompt's. */
function tokenAt(/** @type {TraceModel} */ model, /** @type {number} */ at, /** @type {TokenRecord} */ record) {
  const prompt = model.header?.prompt_ids ?? [];
  if (at < 0) return prompt.length + at >= 0 ? { id: prompt[prompt.length + at], serial: null } : null;
  /** @type {TokenRecord|null} */ let last = null;
  for (const x of model.tokens.values()) {
    if (x.at !== at || x.serial >= record.serial || beside(x, record)) continue;
    if (x.tGone === null || x.tGone >= record.tDraft) last = x;
  }
  return last;
}

/** Whether a token stands on another branch of the tree that `record` was drafted in. */
function beside(/** @type {TokenRecord} */ x, /** @type {TokenRecord} */ { fork }) {
  if (!fork || x.fork?.tree !== fork.tree) return false;
  for (let node = fork.parent; node !== null; ) {
    const above = fork.tree.nodes.find((one) => one.serial === node);
    if (above === x) return false;
    node = above?.fork?.parent ?? null;
  }
  return true;
}

/** Tokens as text. @param {Pick<TraceModel, "piece">} model @param {{id: number}[]} tokens */
export function written(model, tokens) {
  const bytes = tokens.flatMap(({ id }) => [...model.piece(id).bytes]);
  return decode(Uint8Array.from(bytes)).replaceAll("\n", "\u21b5");
}

// ---- The prompt of a run, out of its ids: as it was fed, and as the visitor wrote it.

/** The prompt as it was fed: its special tokens one by one, what stands between them whole.
 *  @param {TraceModel} model */
function promptParts(model) {
  const records = (model.header?.prompt_ids ?? []).map((id, serial) => ({ id, serial }));
  /** @type {{text: string, special: boolean}[]} */
  const parts = [];
  for (const { text, special } of splitCells(records, (id) => model.piece(id))) {
    const last = parts.at(-1);
    if (last && !special && !last.special) last.text += text;
    else parts.push({ text, special });
  }
  return parts;
}

/** What the visitor wrote, out of the chat template when there is one; `raw` when there is none.
 *  @param {TraceModel} model */
export function promptText(model) {
  const parts = promptParts(model);
  const raw = !parts.some((part) => part.special);
  if (raw) return { text: parts.map((part) => part.text).join(""), raw };
  const user = parts.filter((part) => !part.special && part.text.startsWith("user\n")).at(-1);
  return { text: user ? user.text.slice(5) : "", raw };
}
