/** Nodes of the text view: one for a cell of tokens, one for the ghosts at a place. A node is made once and then
 *  dressed: only attributes that differ are written. Text goes in by textContent only; letters, marks and white
 *  space glyphs are CSS content, so that copied text is the plain text. */

import { decode, visible } from "./cells.js";

const GHOST_LENGTH = 18;

/** A new node for a cell whose first token is `serial`. */
export function tokenNode(serial) {
  const node = element("span", "hx-tok");
  node.dataset.serial = serial;
  node.tabIndex = -1;
  node.append("", element("span", "hx-w"), "");
  return node;
}

/**
 * Dresses a cell's node for the state it is in.
 * @param {HTMLElement} node
 * @param {object} cell {serials, text, special, partial}
 * @param {object[]} records its tokens
 * @param {object} look {state, category, marks, dots, dotHue}
 */
export function dress(node, cell, records, look) {
  const text = cell.special ? "" : cell.text;
  if (node.cellText !== cell.text || node.cellSize !== cell.serials.length) write(node, cell, text);
  const word = node.childNodes[1];
  put(node, "state", look.state);
  put(node, "line", look.category.underline);
  put(node, "level", String(records[0].level));
  put(node, "how", records[0].how);
  put(node, "passed", look.passed);
  put(word, "mark", look.marks);
  put(word, "dots", look.dots);
  put(word, "partial", cell.partial ? "1" : "");
  style(node, "--hue", look.category.hue);
  style(node, "--tint", look.category.strength ? `${look.category.strength}%` : "");
  style(node, "--dot", look.dots ? look.dotHue : "");
}

function write(node, cell, text) {
  const [, lead, body, trail] = /^(\s*)([^]*?)(\s*)$/.exec(text);
  const [before, word, after] = node.childNodes;
  const blank = body === "" && !cell.special && !cell.partial;
  before.data = blank ? "" : lead;
  word.textContent = cell.special ? cell.text : body;
  after.data = blank ? lead : trail;
  put(node, "special", cell.special ? "1" : "");
  put(word, "glyph", /\n/.test(text) && (blank || trail) ? "\u21b5".repeat(Math.min(3, text.split("\n").length - 1)) : "");
  put(node, "parts", cell.serials.length > 1 ? String(cell.serials.length) : "");
  put(node, "serials", cell.serials.join(" "));
  node.cellText = cell.text;
  node.cellSize = cell.serials.length;
}

/** A new node for the ghosts at one place of the text. */
export function ghostNode() {
  const node = element("span", "hx-ghosts");
  node.setAttribute("dir", "auto");
  return node;
}

/**
 * Fills a ghost node: the last rejected token is shown, the others and what was lost with them behind "+n".
 * @param {HTMLElement} node
 * @param {object[]} heads rejected records at this place, oldest first
 * @param {TraceModel} model
 * @param {boolean} fresh whether the last one was rejected just now
 */
export function haunt(node, heads, model, fresh) {
  const signature = heads.map((x) => x.serial).join(" ");
  put(node, "fresh", fresh ? "1" : "");
  if (node.ghostKey === signature) return;
  const open = node.dataset.open === "1";
  node.ghostKey = signature;
  node.heads = heads;
  const last = heads[heads.length - 1];
  const more = heads.reduce((n, x) => n + 1 + x.followers.length, -1);
  node.replaceChildren(ghost(last, model));
  if (more > 0) node.append(moreButton(more));
  if (open) expand(node, model);
}

/** Shows, or hides, all ghosts of a place. */
export function expand(node, model) {
  const open = node.querySelector(".hx-ghost-all") === null;
  const button = node.querySelector(".hx-more");
  if (!button) return;
  put(node, "open", open ? "1" : "");
  button.setAttribute("aria-expanded", String(open));
  if (!open) {
    node.querySelector(".hx-ghost-all").remove();
    return;
  }
  const all = element("span", "hx-ghost-all");
  node.heads.forEach((head, i) => {
    if (i < node.heads.length - 1) all.append(ghost(head, model));
    for (const record of head.followers) all.append(ghost(record, model));
  });
  node.insertBefore(all, button);
}

function ghost(record, model) {
  const node = element("span", record.goneBy === null ? "hx-ghost hx-ghost-lost" : "hx-ghost");
  const full = model.pieces.has(record.id) ? visible(decode(model.piece(record.id).bytes).replace(/^ /, "")) : `#${record.id}`;
  const by = model.levels[record.goneBy];
  node.tabIndex = -1;
  node.dataset.serial = record.serial;
  node.append(element("s", "hx-ghost-text", full.length > GHOST_LENGTH ? `${full.slice(0, GHOST_LENGTH - 1)}\u2026` : full || "\u2205"));
  if (by) {
    put(node, "by", by.tag);
    style(node, "--hue", by.hue);
  }
  return node;
}

function moreButton(count) {
  const button = element("span", "hx-more", `+${count}`);
  button.tabIndex = -1;
  button.setAttribute("role", "button");
  button.setAttribute("aria-expanded", "false");
  button.setAttribute("aria-label", `${count} more rejected tokens here`);
  return button;
}

/** A sentence about a token, for those who hear the page. */
export function spoken(record, model, cursor) {
  const text = model.pieceText(record.id);
  const by = model.levels[record.level];
  const verb = { draft: "drafted by", correct: "correction by", bonus: "bonus of" }[record.how];
  const passed = record.passed.filter((x) => x.t <= cursor).map((x) => model.levels[x.level].name);
  const parts = [`${text}: ${verb} ${by.name}`];
  if (passed.length) parts.push(`accepted by ${passed.join(", ")}`);
  const state = model.state(record, cursor);
  if (state === "gone") parts.push(record.goneBy === null ? "lost with a rejected token before it" : `rejected by ${model.levels[record.goneBy].name}`);
  if (state === "tentative") parts.push("not committed yet");
  return parts.join("; ");
}

function put(node, name, value) {
  if ((node.dataset[name] ?? "") === value) return;
  if (value === "") delete node.dataset[name];
  else node.dataset[name] = value;
}

function style(node, name, value) {
  if (node.style.getPropertyValue(name) === value) return;
  if (value === "") node.style.removeProperty(name);
  else node.style.setProperty(name, value);
}

export function element(tag, className, text = "") {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== "") node.textContent = text;
  return node;
}
