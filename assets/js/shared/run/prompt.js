/** The prompt of a run, out of its ids: as it was fed, and as the visitor wrote it. */

import { splitCells } from "./cells.js";

/**
 * The prompt as it was fed: its special tokens one by one, what stands between them whole.
 * @param {import("./trace.js").TraceModel} model
 */
export function promptParts(model) {
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

/**
 * What the visitor wrote, out of the chat template when there is one; `raw` when there is none.
 * @param {import("./trace.js").TraceModel} model
 */
export function promptText(model) {
  const parts = promptParts(model);
  const raw = !parts.some((part) => part.special);
  if (raw) return { text: parts.map((part) => part.text).join(""), raw };
  const user = parts.filter((part) => !part.special && part.text.startsWith("user\n")).at(-1);
  return { text: user ? user.text.slice(5) : "", raw };
}
