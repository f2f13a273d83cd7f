/** Nodes of the text view: one for a cell of tokens, one for the ghosts at a place. A node is made once and then
 *  dressed: only attributes that differ are written. Text goes in by textContent only; letters, marks and white
 *  space glyphs are CSS content, so that copied text is the plain text. */

import { candidates, fate } from "../../run/tree.js";
import { treeNode } from "./tree-view.js";
import { element } from "../../kit/dom.js";
import { isCopy } from "../../run/copies.js";
import { TOKEN } from "../../../../text/en/text.js";

const GHOST_LENGTH = 18;
const WHOLE = 24; // characters of a token up to which no line breaks within it

/** A new node for a cell whose first token is `serial`: white space stays outside the token, so that its box is
 *  one box even where a line breaks. */
export function tokenNode(serial) {
  const node = element("span", "hx-cell");
  const token = element("span", "hx-tok");
  token.dataset.serial = serial;
  token.tabIndex = -1;
  node.append("", token, "");
  return node;
}

/**
 * Dresses a cell's node for the state it is in.
 * @param {HTMLElement & {cellText?: string, cellSize?: number}} node
 * @param {import("../../run/cells.js").Cell} cell
 * @param {import("../../run/records.js").TokenRecord[]} records its tokens
 * @param {Record<string, any>} look {state, category, passed, letters, dots, dotHue}
 */
export function dress(node, cell, records, look) {
  const text = cell.special ? "" : cell.text;
  if (node.cellText !== cell.text || node.cellSize !== cell.serials.length) write(node, cell, text);
  const token = /** @type {HTMLElement} */ (node.childNodes[1]);
  put(token, "state", look.state);
  put(node, "soft", look.state === "tentative" ? "1" : "");
  put(token, "line", look.category.underline);
  put(token, "level", String(records[0].level));
  put(token, "how", records[0].how);
  put(token, "passed", look.passed);
  const { letters } = look;
  put(token, "mark", letters.shown);
  put(token, "dots", look.dots);
  put(token, "partial", cell.partial ? "1" : "");
  style(token, "--hue", look.category.hue);
  style(token, "--tint", look.category.strength ? `${look.category.strength}%` : "");
  style(token, "--dot", look.dots ? look.dotHue : "");
  style(token, "--letters-at", letters.at ? letters.at.toFixed(2) : "");
  style(token, "--squeeze", letters.squeeze < 1 ? letters.squeeze.toFixed(2) : "");
}

function write(node, cell, text) {
  const [, lead, body, trail] = text.match(/^(\s*)([^]*?)(\s*)$/) ?? [];
  const [before, token] = node.childNodes;
  const after = node.lastChild; // ghosts may hang before it
  const blank = body === "" && !cell.special && !cell.partial;
  const lines = text.includes("\n");
  before.data = blank ? "" : lead;
  token.textContent = cell.special ? cell.text : blank && !lines ? lead : body;
  after.data = blank ? (lines ? lead : "") : trail;
  put(token, "special", cell.special ? "1" : "");
  put(token, "long", token.textContent.length > WHOLE ? "1" : "");
  put(
    token,
    "glyph",
    lines && (blank || trail.includes("\n")) ? "\u21b5".repeat(Math.min(3, text.split("\n").length - 1)) : "",
  );
  put(token, "parts", cell.serials.length > 1 ? String(cell.serials.length) : "");
  put(token, "serials", cell.serials.join(" "));
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
 * @param {HTMLElement & {ghostKey?: string, heads?: object[]}} node
 * @param {import("../../run/records.js").TokenRecord[]} heads rejected records at this place, oldest first
 * @param {import("../../run/trace.js").TraceModel} model
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
  const tail = element("span", "hx-ghost-tail");
  const by = model.levels[last.goneBy ?? -1]?.tag ?? "";
  put(tail, "by", by);
  if (more > 0) {
    tail.append(moreButton(more));
    tail.style.setProperty("--tag", String(by.length + 1));
    tail.style.setProperty("--size", String(String(more).length + 1));
  }
  node.replaceChildren(ghost(last, model), tail);
  if (open) expand(node, model);
}

/** Shows, or hides, all ghosts of a place. */
export function expand(node, model) {
  const open = node.querySelector(".hx-ghost-all") === null;
  const button = node.querySelector(".hx-plus");
  if (!button) return;
  put(node, "open", open ? "1" : "");
  button.setAttribute("aria-expanded", String(open));
  if (!open) {
    node.querySelector(".hx-ghost-all").remove();
    return;
  }
  const all = element("span", "hx-ghost-all");
  const fell = (head) => fate(head, Infinity) === "rejected"; // out of a tree; what was kept there may fall later
  const trees = new Set(node.heads.filter(fell).map((head) => head.fork.tree));
  for (const tree of trees) all.append(treeNode(tree, model, Infinity));
  node.heads.forEach((head, i) => {
    if (fell(head)) return;
    if (i < node.heads.length - 1) all.append(ghost(head, model));
    for (const record of head.followers) all.append(ghost(record, model));
  });
  node.append(all);
}

function ghost(record, model) {
  const node = element("span", record.goneBy === null ? "hx-ghost hx-ghost-lost" : "hx-ghost");
  const full = model.pieceText(record.id).replace(/^\u00b7(?=.)/, "");
  const by = model.levels[record.goneBy];
  node.tabIndex = -1;
  node.dataset.serial = record.serial;
  node.append(
    element(
      "s",
      [...full].length > 2 ? "hx-ghost-text" : "hx-ghost-text hx-ghost-short",
      full.length > GHOST_LENGTH ? `${full.slice(0, GHOST_LENGTH - 1)}\u2026` : full || "\u2205",
    ),
  );
  if (by) {
    put(node, "by", by.tag);
    style(node, "--hue", by.hue);
  }
  return node;
}

function moreButton(count) {
  const button = element("span", "hx-plus", `+${count}`);
  button.tabIndex = -1;
  button.setAttribute("role", "button");
  button.setAttribute("aria-expanded", "false");
  button.setAttribute("aria-label", TOKEN.more(count));
  return button;
}

/** A sentence about a token, for those who hear the page. */
export function spoken(record, model, cursor) {
  const text = model
    .pieceText(record.id)
    .replace(/^\u00b7(?=.)/, "")
    .replaceAll("\u21b5", TOKEN.newline);
  const by = model.levels[record.level];
  const passed = record.passed.filter((x) => x.t <= cursor).map((x) => model.levels[x.level].name);
  const parts = [TOKEN.is(text, TOKEN.how[record.how], by.name)];
  if (isCopy(record)) parts.push(TOKEN.copied(record.copied.at < 0));
  if (passed.length) parts.push(TOKEN.accepted(passed));
  const state = model.state(record, cursor);
  if (state === "gone")
    parts.push(
      record.goneBy === null
        ? record.lostWith === null
          ? TOKEN.gone
          : TOKEN.lost
        : TOKEN.rejected(model.levels[record.goneBy].name),
    );
  if (record.how === "draft") parts.push(...besides(record, cursor));
  if (state === "tentative") parts.push(TOKEN.tentative);
  return parts.join("; ");
}

/** Of a candidate: its place among the others, and why it was not asked. */
function besides(record, cursor) {
  const others = candidates(record);
  if (others.length < 2) return [];
  const place = TOKEN.candidate(others.indexOf(record) + 1, others.length);
  return fate(record, cursor) === "unasked" ? [place, TOKEN.unasked] : [place];
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
