/** The text, token by token: committed tokens tinted by who supplied them, tentative ones at the end, rejected
 *  drafts as ghosts where they stood. The committed prefix is never touched again while nothing about it changes.
 *  Where a round has several candidates, they hang below the text's end as a tree. */

import { origin } from "../run/copies.js";
import { sparedByTarget } from "../run/spared.js";
import { NOTHING, behind, cellStart, gapBefore, hang, indentation, letterRoom, put, wanted } from "./text-lines.js";
import { colouring, dress, ghostNode, haunt, tokenNode } from "./token/token.js";
import { element } from "../kit/dom.js";
import { TextFollow, TextReach } from "./text-reach.js";
import { TreeDock } from "./token/tree-view.js";
import { upTo } from "../kit/order.js";
import { TEXT } from "../../../text/en/text.js";

/** @type {number[]} */ const NONE = [];
const CALM = 40; // more new nodes than this at once appear without moving

/** @typedef {import("./text-lines.js").Shown} Shown @typedef {import("./text-lines.js").Item} Item @typedef {import("../run/cells.js").Cell} Cell
 *  @typedef {import("../run/trace.js").TraceModel} TraceModel @typedef {import("../run/records.js").TokenRecord} TokenRecord
 *  @typedef {import("./token/token.js").Scheme} Scheme @typedef {{onSelect?: (serial: number|null, info: object) => void}} Context
 *  @typedef {{colourBy?: string, ghosts?: string, selected?: number|null, sources?: number[], round?: number|null, swift?: boolean, moves?: number}} Options
 */

/** @param {HTMLElement} host @param {Context} ctx */
export function create(host, ctx = {}) {
  const el = host.appendChild(element("div", "hx-text"));
  const flow = el.appendChild(element("div", "hx-flow"));
  flow.setAttribute("role", "group");
  flow.setAttribute("aria-label", TEXT.flow);
  const view = new TextView(el, flow, ctx);
  return {
    el,
    /** @type {TextView["update"]} */
    update: (model, cursor, opts = {}) => view.update(model, cursor, opts),
    settle: () => view.settle(),
    focus: (/** @type {number} */ serial) => view.focus(serial),
    press: (/** @type {number} */ serial) => view.press(serial),
    destroy() {
      view.reach.listening.abort();
      el.remove();
    },
  };
}

const none = /** @type {any} */ (null); // until there is a run

class TextView {
  constructor(/** @type {HTMLElement} */ el, /** @type {HTMLElement} */ flow, /** @type {Context} */ ctx) {
    this.el = el;
    this.flow = flow;
    this.tree = new TreeDock(el);
    this.reach = new TextReach(el, [flow, this.tree.el], () => this, ctx.onSelect);
    /** @type {TraceModel} */ this.model = none;
    this.cursor = 0;
    /** @type {HTMLElement|null} */ this.marked = null; // the selected token
    /** @type {number|null|undefined} */ this.round = undefined; // that is lit
    this.follow = new TextFollow(el, flow, this.reach.listening.signal);
    this._clear();
  }

  _clear() {
    this.model = none;
    /** @type {Shown[]} */ this.items = []; // in order
    /** @type {number} */ this.seen = 0; // committed tokens drawn
    this.style = "";
    this.flow.replaceChildren();
    this.tree.update(null, 0, this.reach);
    this.reach.reach(null);
    this.marked = null;
    this.follow.clear();
    this.swift = false; // whether what is shown changes quickly
    /** @type {HTMLElement|null} */ this.origin = null; // what the marked token was copied from
    /** @type {HTMLElement[]} */ this.sources = []; // nodes of a whole stretch that was found
    /** @type {string} */ this.found = "";
  }

  /** @param {TraceModel|null} model @param {number} cursor @param {Options} options */
  update(model, cursor, options = {}) {
    const {
      colourBy = "level",
      ghosts = "show",
      selected = null,
      sources = NONE,
      round = null,
      swift = false,
      moves = 0,
    } = options;
    if (!model?.header) {
      if (this.items.length) this._clear();
      return;
    }
    if (model !== this.model) this._clear();
    this.model = model;
    this.cursor = cursor;
    this.swift = swift;
    this.flow.dataset.ghosts = ghosts;
    this.flow.dataset.by = colourBy;
    this.flow.classList.toggle("hx-swift", swift);
    const scheme = colouring(model, colourBy);
    const style = JSON.stringify([colourBy, ghosts, scheme.all ?? null]);
    const committed = model.committedAt(cursor);
    const keep = style === this.style ? cellStart(model, Math.min(this.seen, committed)) : 0;
    this._reconcile(keep, wanted(model, cursor, keep, committed, ghosts !== "hide"), scheme);
    this.flow.classList.toggle("hx-waiting", this.items.length === 0);
    const { footer } = model;
    this.flow.dataset.waits = footer && !footer.committed ? TEXT.nothingWritten : TEXT.waiting;
    this.tree.update(ghosts === "hide" ? null : model, cursor, this.reach);
    this.style = style;
    this.seen = committed;
    this._select(selected);
    this._show(sources);
    this._light(round);
    this.follow.moved(moves);
  }

  /** Goes on to the text's end if that was in sight. Called when all else is drawn: it asks how high the text is. */
  settle() {
    this.tree.settle();
    this.follow.settle();
  }

  _reconcile(/** @type {number} */ from, /** @type {Item[]} */ wanted, /** @type {Scheme} */ scheme) {
    const cut = upTo(this.items, from - 1, (x) => x.at);
    const old = new Map(this.items.splice(cut).map((x) => [x.key, x.node]));
    const calm = this.swift || wanted.reduce((n, x) => n + (old.has(x.key) ? 0 : 1), 0) > CALM;
    let last = cut ? this.items[cut - 1] : NOTHING;
    for (const [i, item] of wanted.entries()) {
      const kept = old.get(item.key);
      const node = kept ?? (item.cell ? tokenNode(item.cell.serials[0]) : ghostNode());
      if (!kept && !calm) node.classList.add("hx-new");
      old.delete(item.key);
      last = item.cell
        ? this._token(item, item.cell, node, last, wanted[i + 1], scheme)
        : this._ghosts(item, item.heads ?? [], node, last);
      this.items.push(last);
    }
    for (const node of old.values()) node.remove();
    const end = (last.end ?? last.hung)?.parentNode ?? null;
    while (this.flow.lastChild !== end) this.flow.lastChild?.remove();
    this.reach.renew();
  }

  /** @param {Item} item @param {Cell} cell @param {HTMLElement} node @param {Shown} last @param {Item|undefined} next
   *  @param {Scheme} scheme @returns {Shown} */
  _token({ key, at }, cell, node, last, next, scheme) {
    const place = cell.special || cell.partial ? last.place : behind(last.place, cell.text);
    const code = behind(last.place, cell.text.split("\n", 1)[0]).code;
    const letters = this._dress(node, cell, scheme, last.letters, next, code);
    put(this.flow, node, last);
    node.parentElement?.classList.toggle("hx-code", code);
    const line = indentation(cell, node, last.line);
    const hung = line === last.line ? last.hung : null;
    return { key, at, node, end: node, ends: cell.text.endsWith("\n"), line, hung, letters, place };
  }

  /** @param {Item} item @param {TokenRecord[]} heads @param {HTMLElement} node @param {Shown} last @returns {Shown} */
  _ghosts({ key, at }, heads, node, last) {
    haunt(node, heads, this.model, this._fresh(heads[heads.length - 1]));
    if (hang(this.flow, node, last)) return { ...last, key, at, node, hung: node };
    put(this.flow, node, last);
    return { key, at, node, end: node, ends: false, line: null, hung: null, letters: null, place: last.place };
  }

  /** Rejected at the very moment the cursor rests on: drawn large until the next thing happens. */
  _fresh(/** @type {TokenRecord} */ record) {
    const gone = record.tGone ?? 0;
    const after = this.model.markAfter(gone);
    return after !== null && this.cursor < after.t && this.cursor - gone < 400e6;
  }

  /** @returns {import("./text-lines.js").Letters} where its letters went
   *  @param {HTMLElement} node @param {import("../run/cells.js").Cell} cell @param {Scheme} scheme
   *  @param {Shown["letters"]} before @param {Item|undefined} next @param {boolean} code */
  _dress(node, cell, scheme, before, next, code) {
    const { model, cursor } = this;
    const records = cell.serials.flatMap((serial) => model.tokens.get(serial) ?? []);
    const [first] = records;
    const top = model.levels.length - 1;
    const tentative = records.some((x) => model.state(x, cursor) !== "committed");
    const passed = first.passed.filter((x) => x.t <= cursor && x.level < top).map((x) => model.levels[x.level]);
    const said = [...new Set(records.map((x) => scheme.of(x, cursor).letter))].slice(0, 3).join("");
    const letters = letterRoom(cell, said, before, gapBefore(next, code), code);
    dress(node, cell, records, {
      state: tentative ? "tentative" : "committed",
      category: scheme.of(first, cursor),
      passed: passed.map((x) => x.tag).join(" "),
      letters,
      dots: "\u2022".repeat(passed.length),
      dotHue: passed.length ? passed[passed.length - 1].hue : "",
      spared: records.some((x) => sparedByTarget(x, top)),
    });
    return letters;
  }

  _select(/** @type {number|null} */ serial) {
    const node = serial === null ? null : this._node(serial);
    if (node === this.marked) return;
    this.marked?.classList.remove("hx-selected");
    node?.classList.add("hx-selected");
    this.marked = node;
    this.origin?.classList.remove("hx-origin");
    const record = this.model.tokens.get(serial ?? -1);
    const from = record ? (origin(this.model, record)?.serial ?? null) : null;
    this.origin = from === null ? null : this._node(from);
    this.origin?.classList.add("hx-origin");
  }

  /** Marks a stretch of the text that a lookup found. @param {number[]} serials */
  _show(serials) {
    const found = serials.join();
    if (found === this.found && this.sources.every((node) => node.isConnected)) return;
    for (const node of this.sources) node.classList.remove("hx-source");
    this.sources = serials.map((serial) => this._node(serial)).filter((node) => node !== null);
    for (const node of this.sources) node.classList.add("hx-source");
    this.found = found;
  }

  _light(/** @type {number|null} */ round) {
    if (round === this.round) return;
    this.round = round;
    for (const { node, key } of this.items) {
      if (key[0] === "g") continue;
      const token = node.childNodes[1];
      const record = this.model.tokens.get(Number(token.dataset.serial));
      token.classList.toggle("hx-in-round", round !== null && record?.round === round);
    }
  }

  _node(/** @type {number} */ serial) {
    /** @type {HTMLElement|null} */ const direct = this.flow.querySelector(`[data-serial="${serial}"]`);
    return (
      direct ??
      this.flow.querySelector(`[data-serials~="${serial}"]`) ??
      this.tree.el.querySelector(`[data-serial="${serial}"]`)
    );
  }

  focus(/** @type {number} */ serial) {
    this._node(serial)?.focus();
  }

  /** Pins the card of a token, as a click on it does. @param {number} serial */
  press(serial) {
    const anchor = this._node(serial);
    if (!anchor) return;
    this.follow.bring(anchor);
    anchor.scrollIntoView({ block: "nearest" });
    this.reach.tell(anchor, "click");
  }
}
