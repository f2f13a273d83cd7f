/** A token as it is drawn: its colour and its node.
 *
 *  Its colour is a category, one for each way to colour: a letter, a hue and an underline; none is told by colour alone.
 *  Nodes are: one for a cell of tokens, one for the ghosts at a place. A node is made once and then
 *  dressed: only attributes that differ are written. Text goes in by textContent only; letters, marks and white
 *  space glyphs are CSS content, so that copied text is the plain text. */

import { local } from "../../../../text/numbers.js";
import { element } from "../../kit/dom.js";
import { upTo } from "../../kit/order.js";
import { originOf } from "../../levels/kinds.js";
import { isCopy } from "../../run/copies.js";
import { sparedByTarget } from "../../run/spared.js";
import { candidates, fate } from "../../run/tree.js";
import { treeNode } from "./tree-view.js";
import { LEGEND } from "../../../../text/en/legend.js";
import { PRICE } from "../../../../text/en/run.js";
import { TOKEN } from "../../../../text/en/text.js";

const NONE = { letter: "\u2013", hue: "var(--muted)", underline: "none" };
const NICE = [1, 1.5, 2, 3, 5, 7, 10];
const STEPS = [9, 18, 28, 40, 54]; // percent of the hue, slow is strong
const GHOST_LENGTH = 18;
const WHOLE = 24; // characters of a token up to which no line breaks within it

// ---- its colour

/** @typedef {import("../../run/trace.js").TraceModel} TraceModel @typedef {import("../../run/records.js").TokenRecord} TokenRecord
 *  @typedef {{key: string, letter: string, name: string, hue: string, underline: string, strength?: number}} Category
 *  @typedef {{title: string, of: (record: TokenRecord, cursor: number) => Category, all?: Category[], changes?: boolean,
 *    seen?: Seen[], example?: Example|null}} Scheme how the tokens of a model are coloured
 *  @typedef {{t: number, category: Category & {order: number}}} Seen t: when its first token came
 *  @typedef {{key: string, text: string, category: Category, passed: import("../../run/trace.js").Level[]}} Example a token to explain the marks with
 *  @typedef {(level: number) => Category} LookOf
 *  @typedef {HTMLElement & {cellText?: string, cellSize?: number}} CellNode @typedef {HTMLElement & {ghostKey?: string, heads?: TokenRecord[]}} GhostNode
 */
/** @type {WeakMap<object, {version: number, by: string, scheme: Scheme}>} */
const schemes = new WeakMap();

/** @param {TraceModel} model @param {string} by @returns {Scheme} */
export function colouring(model, by) {
  const kept = schemes.get(model);
  if (kept && kept.version === model.version && kept.by === by) return kept.scheme;
  const scheme = schemeOf(model, by);
  schemes.set(model, { version: model.version, by, scheme });
  return scheme;
}

/** @param {TraceModel} model @param {string} by @returns {Scheme} */
function schemeOf(model, by) {
  if (by === "time") return byTime(model);
  const level = (/** @type {number} */ i) => ({
    key: `l${i}`,
    letter: model.levels[i].tag,
    name: model.levels[i].name,
    hue: model.levels[i].hue,
    underline: model.levels[i].underline,
  });
  if (by === "source") return { title: LEGEND.source, of: (record) => sourceOf(model, record, level) };
  if (by === "passed")
    return {
      title: LEGEND.passed,
      of: (record, cursor) => passedOf(model, record, cursor, level),
      changes: true,
    };
  return { title: LEGEND.level, of: (record) => level(record.level) };
}

function sourceOf(/** @type {TraceModel} */ model, /** @type {TokenRecord} */ record, /** @type {LookOf} */ level) {
  const base = level(record.level);
  const origin = originOf(model.levels[record.level].kind, record.source);
  if (origin) return { ...base, key: `d${record.source}`, letter: record.source, name: origin.title, hue: origin.hue };
  if (!record.source || record.how !== "draft") return base;
  const own = { ...base, key: `${base.key}:${record.source}`, name: named(base.name, record.source) };
  if (!isCopy(record)) return own;
  return {
    ...own,
    key: `${own.key}:copy`,
    letter: `${own.letter}c`,
    name: LEGEND.copied(own.name),
    hue: copyHue(own.hue),
  };
}

/** A copy leans to the colour of lookups: it is one, inside a draft. @param {string} hue */
const copyHue = (hue) => `color-mix(in oklab, ${hue} 35%, var(--mark))`;

/** @param {string} name @param {string} source */
const named = (name, source) => (name.includes(source) ? name : `${name} (${source})`);

/** @param {TraceModel} model @param {TokenRecord} record @param {number} cursor @param {LookOf} level */
function passedOf(model, record, cursor, level) {
  const top = model.levels.length - 1;
  const highest = acceptedBy(record, top, cursor);
  if (highest === top) return { ...level(top), name: LEGEND.targets };
  if (highest === null) return { ...NONE, key: "none", name: LEGEND.none };
  return { ...level(highest), key: `p${highest}`, name: LEGEND.passedAt(model.levels[highest].name) };
}

/** ms of a token's round, shared among the tokens that the round committed. */
export function msPerToken(/** @type {TraceModel} */ model, /** @type {TokenRecord} */ record) {
  const round = model.rounds[upTo(model.rounds, record.round, (x) => x.round) - 1];
  return round?.round === record.round && round.tokens ? (round.t1 - round.t0) / 1e6 / round.tokens : null;
}

function byTime(/** @type {TraceModel} */ model) {
  const known = model.rounds
    .filter((x) => x.tokens)
    .map((x) => (x.t1 - x.t0) / 1e6 / x.tokens)
    .sort((a, b) => a - b);
  const middle = nice(known[known.length >> 1] ?? 1);
  const edges = [0.5, 0.8, 1.25, 2].map((x) => x * middle);
  const names = [
    LEGEND.under(ms(edges[0])),
    ...edges.slice(1).map((x, i) => LEGEND.between(ms(edges[i]), ms(x))),
    LEGEND.over(ms(edges[3])),
  ];
  const step = (/** @type {number} */ i) => ({
    key: `t${i}`,
    letter: String(i + 1),
    name: names[i],
    hue: "var(--hue-target)",
    underline: "none",
    strength: STEPS[i],
  });
  return {
    title: LEGEND.time,
    all: names.map((_, i) => step(i)),
    of: (/** @type {TokenRecord} */ record) => {
      const value = msPerToken(model, record);
      return value === null ? { ...NONE, key: "none", name: LEGEND.unknown } : step(upTo(edges, value, (x) => x));
    },
  };
}

function nice(/** @type {number} */ value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-3)));
  return NICE.reduce(
    (best, x) => (Math.abs(Math.log((x * power) / value)) < Math.abs(Math.log(best / value)) ? x * power : best),
    power,
  );
}

const ms = (/** @type {number} */ x) => `${x >= 10 ? Math.round(x) : local(String(Number(x.toPrecision(2))))} ms`;

// ---- its node

/** A new node for a cell whose first token is `serial`: white space stays outside the token, so that its box is
 *  one box even where a line breaks. @param {number} serial */
export function tokenNode(serial) {
  const node = element("span", "hx-cell");
  const token = element("span", "hx-tok");
  token.dataset.serial = String(serial);
  token.tabIndex = -1;
  node.append("", token, "");
  return node;
}

/** Dresses a cell's node for the state it is in. @param {CellNode} node
 *  @param {import("../../run/cells.js").Cell} cell
 *  @param {import("../../run/records.js").TokenRecord[]} records its tokens
 *  @param {{state: string, category: Category, passed: string, letters: {shown: string, at: number, squeeze: number}, dots: string, dotHue: string, spared?: boolean}} look
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
  put(token, "spared", look.spared ? "1" : "");
  style(token, "--hue", look.category.hue);
  style(token, "--tint", look.category.strength ? `${look.category.strength}%` : "");
  style(token, "--dot", look.dots ? look.dotHue : "");
  style(token, "--letters-at", letters.at ? letters.at.toFixed(2) : "");
  style(token, "--squeeze", letters.squeeze < 1 ? letters.squeeze.toFixed(2) : "");
}

/** @param {CellNode} node @param {import("../../run/cells.js").Cell} cell @param {string} text */
function write(node, cell, text) {
  const [, lead, body, trail] = /** @type {string[]} */ (text.match(/^(\s*)([^]*?)(\s*)$/));
  const [before, token] = /** @type {[Text, HTMLElement]} */ ([...node.childNodes]);
  const after = /** @type {Text} */ (node.lastChild); // ghosts may hang before it
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

/** Fills a ghost node: the last rejected token is shown, the others and what was lost with them behind "+n".
 *  @param {GhostNode} node
 *  @param {import("../../run/records.js").TokenRecord[]} heads rejected records at this place, oldest first
 *  @param {import("../../run/trace.js").TraceModel} model
 *  @param {boolean} fresh whether the last one was rejected just now */
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

/** Shows, or hides, all ghosts of a place. @param {GhostNode} node @param {TraceModel} model */
export function expand(node, model) {
  const open = node.querySelector(".hx-ghost-all") === null;
  const button = node.querySelector(".hx-plus");
  if (!button) return;
  put(node, "open", open ? "1" : "");
  button.setAttribute("aria-expanded", String(open));
  if (!open) {
    node.querySelector(".hx-ghost-all")?.remove();
    return;
  }
  const all = element("span", "hx-ghost-all");
  /** @param {TokenRecord} head */
  const fell = (head) => fate(head, Infinity) === "rejected"; // out of a tree; what was kept there may fall later
  const heads = node.heads ?? [];
  const trees = new Set(heads.filter(fell).flatMap((head) => head.fork?.tree ?? []));
  for (const tree of trees) all.append(treeNode(tree, model, Infinity));
  heads.forEach((head, i) => {
    if (fell(head)) return;
    if (i < heads.length - 1) all.append(ghost(head, model));
    for (const record of head.followers) all.append(ghost(record, model));
  });
  node.append(all);
}

function ghost(/** @type {TokenRecord} */ record, /** @type {TraceModel} */ model) {
  const node = element("span", record.goneBy === null ? "hx-ghost hx-ghost-lost" : "hx-ghost");
  const full = model.pieceText(record.id).replace(/^\u00b7(?=.)/, "");
  const by = model.levels[record.goneBy ?? -1];
  node.tabIndex = -1;
  node.dataset.serial = String(record.serial);
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

function moreButton(/** @type {number} */ count) {
  const button = element("span", "hx-plus", `+${count}`);
  button.tabIndex = -1;
  button.setAttribute("role", "button");
  button.setAttribute("aria-expanded", "false");
  button.setAttribute("aria-label", TOKEN.more(count));
  return button;
}

/** A sentence about a token, for those who hear the page.
 *  @param {TokenRecord} record @param {TraceModel} model @param {number} cursor */
export function spoken(record, model, cursor) {
  const text = model
    .pieceText(record.id)
    .replace(/^\u00b7(?=.)/, "")
    .replaceAll("\u21b5", TOKEN.newline);
  const by = model.levels[record.level];
  const passed = record.passed.filter((x) => x.t <= cursor).map((x) => model.levels[x.level].name);
  const parts = [TOKEN.is(text, TOKEN.how[record.how], by.name)];
  if (isCopy(record)) parts.push(TOKEN.copied((record.copied?.at ?? 0) < 0));
  if (passed.length) parts.push(TOKEN.accepted(passed));
  if (sparedByTarget(record, model.levels.length - 1)) parts.push(PRICE.spared);
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
function besides(/** @type {TokenRecord} */ record, /** @type {number} */ cursor) {
  const others = candidates(record);
  if (others.length < 2) return [];
  const place = TOKEN.candidate(others.indexOf(record) + 1, others.length);
  return fate(record, cursor) === "unasked" ? [place, TOKEN.unasked] : [place];
}

function put(/** @type {HTMLElement} */ node, /** @type {string} */ name, /** @type {string} */ value) {
  if ((node.dataset[name] ?? "") === value) return;
  if (value === "") delete node.dataset[name];
  else node.dataset[name] = value;
}

function style(/** @type {HTMLElement} */ node, /** @type {string} */ name, /** @type {string} */ value) {
  if (node.style.getPropertyValue(name) === value) return;
  if (value === "") node.style.removeProperty(name);
  else node.style.setProperty(name, value);
}

// ---- Which level accepted a token, as `accepted_by` of hsd_core/trace/conventions.py says it.

/** The highest level below the target that had accepted a token at a cursor (ns); the target where the token is its own;
 *  null where it came to the target straight from the level that supplied it.
 *  @param {{level: number, passed: {level: number, t: number}[]}} record @param {number} top the target's index
 *  @param {number} cursor @returns {number|null} */
export function acceptedBy({ level, passed }, top, cursor) {
  if (level === top) return top;
  const below = passed.filter((x) => x.level < top && x.t <= cursor).map((x) => x.level);
  return below.length ? Math.max(...below) : null;
}
