/** The text, token by token: committed tokens tinted by who supplied them, tentative ones at the end, rejected
 *  drafts as ghosts where they stood. The committed prefix is never touched again while nothing about it changes.
 *  Where a round has several candidates, they hang below the text's end as a comb. */

import { combNode } from "./comb-view.js";
import { origin } from "./copies.js";
import { colouring } from "./legend.js";
import { dress, element, expand, ghostNode, haunt, spoken, tokenNode } from "./token.js";
import { cellStart, wanted } from "./text-items.js";
import { copyPlain, walk } from "./text-keys.js";
import { upTo } from "./order.js";
import { TEXT } from "./words/text.js";

const STOPS = "[data-serial], .hx-more";
/** @type {number[]} */ const NONE = [];
const CALM = 40; // more new nodes than this at once appear without moving

/**
 * @param {HTMLElement} host
 * @param {{onSelect?: (serial: number|null, info: object) => void}} ctx
 */
export function create(host, ctx = {}) {
  const el = host.appendChild(element("div", "hx-text"));
  const flow = el.appendChild(element("div", "hx-flow"));
  flow.setAttribute("role", "group");
  flow.setAttribute("aria-label", TEXT.flow);
  flow.dataset.waits = TEXT.waiting;
  const comb = el.appendChild(element("div", "hx-comb-dock"));
  comb.hidden = true;
  const view = new TextView(el, flow, comb, ctx);
  return {
    el,
    update: (model, cursor, opts = {}) => view.update(model, cursor, opts),
    focus: (serial) => view.focus(serial),
    press: (serial) => view.press(serial),
    destroy() {
      view.listening.abort();
      el.remove();
    },
  };
}

class TextView {
  constructor(el, flow, dock, ctx) {
    this.el = el;
    this.flow = flow;
    this.dock = dock;
    this.ctx = ctx;
    this.listening = new AbortController();
    this.model = null;
    this.cursor = 0;
    this._clear();
    const on = (type, f) => el.addEventListener(type, f, { signal: this.listening.signal });
    on("pointerover", (e) => e.pointerType !== "touch" && this._tell(e, "hover"));
    for (const part of [flow, dock])
      part.addEventListener("pointerleave", () => this.ctx.onSelect?.(null, { anchor: null, via: "leave" }), {
        signal: this.listening.signal,
      });
    on("pointerdown", () => (this.pressed = true)); // focus that a press brings opens no card: the click does
    on("click", (e) => this._click(e));
    on("keydown", (e) => this._key(e));
    on("copy", (e) => copyPlain(e));
    on("scroll", () => (this.low = this._low())); // asked for here, as every question in a drawing would lay it out
    on("focusin", (e) => this._focused(e.target));
  }

  _clear() {
    this.model = null;
    /** @type {any[]} */ this.items = []; // {key, at, node, ends}, in order; ends: a paragraph ends behind it
    this.seen = 0; // committed tokens drawn
    this.style = "";
    this.flow.replaceChildren();
    this._hang(null, 0);
    this.current = null; // the node that Tab reaches
    this.marked = null;
    this.sunk = 0; // where it was last scrolled to its end
    this.low = true; // whether its end is in sight
    this.swift = false; // whether what is shown changes quickly
    this.origin = null; // what the marked token was copied from
    /** @type {any[]} */ this.sources = []; // nodes of a whole stretch that was found
    this.found = "";
  }

  update(model, cursor, options = {}) {
    const {
      colourBy = "level",
      ghosts = "show",
      selected = null,
      sources = NONE,
      round = null,
      swift = false,
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
    const scheme = colouring(model, colourBy);
    const style = JSON.stringify([colourBy, ghosts, scheme.all ?? null]);
    const committed = model.committedAt(cursor);
    const keep = style === this.style ? cellStart(model, Math.min(this.seen, committed)) : 0;
    this._reconcile(keep, wanted(model, cursor, keep, committed, ghosts !== "hide"), scheme);
    this.flow.classList.toggle("hx-waiting", this.items.length === 0);
    this._hang(ghosts === "hide" ? null : model, cursor);
    if (this.low) this._sink();
    this.style = style;
    this.seen = committed;
    this._select(selected);
    this._show(sources);
    this._light(round);
  }

  /** Whether the text's end is in sight, or was when nobody has scrolled since: paragraphs that have not been in sight
   *  yet have a guessed height, and become higher by themselves. */
  _low() {
    const { scrollTop, scrollHeight, clientHeight } = this.el;
    return scrollTop === this.sunk || scrollHeight - scrollTop - clientHeight < 48;
  }

  _sink() {
    this.el.scrollTop = this.el.scrollHeight;
    this.sunk = this.el.scrollTop;
  }

  /** The comb of the round under the cursor; as high as combs may become, so that the text stays where it is. */
  _hang(model, cursor) {
    const { dock } = this;
    const comb = model?.combAt(cursor) ?? null;
    const rows = model?.mostRows() ?? 0;
    dock.hidden = rows === 0;
    if (dock.hidden) return dock.replaceChildren();
    dock.style.setProperty("--rows", String(rows));
    const past = comb !== null && model.rounds[model.roundAt(cursor - 1)]?.round !== comb.round;
    const key = comb ? `${comb.nodes[0].serial} ${comb.judged !== null && comb.judged.t <= cursor} ${past}` : "";
    if (key === dock.dataset.key && dock.childNodes.length === (comb ? 1 : 0)) return;
    const held = dock.contains(this.current) ? this.current.dataset.serial : null;
    const focused = dock.contains(document.activeElement);
    dock.dataset.key = key;
    dock.classList.toggle("hx-past", past);
    dock.replaceChildren(...(comb ? [combNode(comb, model, cursor, past ? TEXT.noneNow : "")] : []));
    const again =
      held === null ? null : (dock.querySelector(`[data-serial="${held}"]`) ?? this.flow.querySelector(STOPS));
    if (again) this._reach(again);
    if (focused) again?.focus();
  }

  _reconcile(from, wanted, scheme) {
    const cut = upTo(this.items, from - 1, (x) => x.at);
    const old = new Map(this.items.splice(cut).map((x) => [x.key, x.node]));
    const calm = this.swift || wanted.reduce((n, x) => n + (old.has(x.key) ? 0 : 1), 0) > CALM;
    let last = cut ? this.items[cut - 1] : null;
    for (const item of wanted) {
      const made = old.has(item.key) ? null : item.cell ? tokenNode(item.cell.serials[0]) : ghostNode();
      if (made && !calm) made.classList.add("hx-new");
      const node = made ?? old.get(item.key);
      old.delete(item.key);
      if (item.cell) this._dress(node, item.cell, scheme);
      else haunt(node, item.heads, this.model, this._fresh(item.heads[item.heads.length - 1]));
      const same = last !== null && !last.ends;
      const paragraph = same ? last.node.parentNode : this._paragraph(last);
      const next = same ? last.node.nextSibling : paragraph.firstChild;
      if (node !== next) paragraph.insertBefore(node, next);
      last = { key: item.key, at: item.at, node, ends: item.cell?.text.endsWith("\n") ?? false };
      this.items.push(last);
    }
    for (const node of old.values()) node.remove();
    const end = last?.node.parentNode ?? null;
    while (this.flow.lastChild !== end) this.flow.lastChild.remove();
    if (!this.current?.isConnected) this._reach(this.flow.querySelector(STOPS));
  }

  /** The block after the one that `last` ends: a paragraph is laid out without the others. */
  _paragraph(last) {
    const next = last ? last.node.parentNode.nextSibling : this.flow.firstChild;
    return next ?? this.flow.appendChild(element("div", "hx-par"));
  }

  /** Rejected at the very moment the cursor rests on: drawn large until the next thing happens. */
  _fresh(record) {
    const after = this.model.markAfter(record.tGone);
    return after !== null && this.cursor < after.t && this.cursor - record.tGone < 400e6;
  }

  _dress(node, cell, scheme) {
    const { model, cursor } = this;
    const records = cell.serials.map((serial) => model.tokens.get(serial));
    const [first] = records;
    const top = model.levels.length - 1;
    const tentative = records.some((x) => model.state(x, cursor) !== "committed");
    const passed = first.passed.filter((x) => x.t <= cursor && x.level < top).map((x) => model.levels[x.level]);
    const letters = [...new Set(records.map((x) => scheme.of(x, cursor).letter))].slice(0, 3).join("");
    dress(node, cell, records, {
      state: tentative ? "tentative" : "committed",
      category: scheme.of(first, cursor),
      passed: passed.map((x) => x.tag).join(" "),
      marks: letters,
      dots: "\u2022".repeat(passed.length),
      dotHue: passed.length ? passed[passed.length - 1].hue : "",
    });
  }

  _select(serial) {
    const node = serial === null ? null : this._node(serial);
    if (node === this.marked) return;
    this.marked?.classList.remove("hx-selected");
    node?.classList.add("hx-selected");
    this.marked = node;
    this.origin?.classList.remove("hx-origin");
    const record = this.model.tokens.get(serial);
    const from = record ? (origin(this.model, record)?.serial ?? null) : null;
    this.origin = from === null ? null : this._node(from);
    this.origin?.classList.add("hx-origin");
  }

  /** Marks a stretch of the text that a lookup found. */
  _show(serials) {
    const found = serials.join();
    if (found === this.found && this.sources.every((node) => node.isConnected)) return;
    for (const node of this.sources) node.classList.remove("hx-source");
    this.sources = serials.map((serial) => this._node(serial)).filter(Boolean);
    for (const node of this.sources) node.classList.add("hx-source");
    this.found = found;
  }

  _light(round) {
    if (round === this.round) return;
    this.round = round;
    for (const { node, key } of this.items) {
      if (key[0] === "g") continue;
      const token = node.childNodes[1];
      const record = this.model.tokens.get(Number(token.dataset.serial));
      token.classList.toggle("hx-in-round", round !== null && record?.round === round);
    }
  }

  _node(serial) {
    const direct = this.flow.querySelector(`[data-serial="${serial}"]`);
    return (
      direct ??
      this.flow.querySelector(`[data-serials~="${serial}"]`) ??
      this.dock.querySelector(`[data-serial="${serial}"]`)
    );
  }

  // --- pointer and keys ---

  focus(serial) {
    this._node(serial)?.focus();
  }

  /** Pins the card of a token, as a click on it does. */
  press(serial) {
    const anchor = this._node(serial);
    if (!anchor) return;
    anchor.scrollIntoView({ block: "nearest" });
    this._tell({ target: anchor }, "click");
  }

  _tell(event, via) {
    const anchor = event.target.closest?.("[data-serial]");
    if (!anchor || !this.el.contains(anchor)) return;
    const serials = (anchor.dataset.serials ?? anchor.dataset.serial).split(" ").map(Number);
    this.ctx.onSelect?.(serials[0], { anchor, via, serials });
  }

  _click(event) {
    this.pressed = false;
    const more = event.target.closest(".hx-more");
    if (more) expand(more.closest(".hx-ghosts"), this.model);
    else if (getSelection()?.isCollapsed !== false) this._tell(event, "click");
  }

  _key(event) {
    const stops = [...this.el.querySelectorAll(STOPS)];
    const to = walk(event.key, stops.indexOf(event.target.closest(STOPS)), stops.length);
    if (to !== null) stops[to]?.focus();
    else if (event.key === "Enter" || event.key === " ") this._click(event);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  _focused(node) {
    const stop = node.closest(STOPS);
    if (!stop) return;
    this._reach(stop);
    const record = this.model.tokens.get(Number(stop.dataset.serial));
    if (record) {
      stop.setAttribute("role", "button");
      stop.setAttribute("aria-label", spoken(record, this.model, this.cursor));
    }
    if (!this.pressed) this._tell({ target: stop }, "focus");
    this.pressed = false;
  }

  /** The one node that Tab reaches. */
  _reach(node) {
    if (this.current && this.current !== node) {
      this.current.tabIndex = -1;
      if (this.current.dataset.serial) for (const name of ["role", "aria-label"]) this.current.removeAttribute(name);
    }
    if (node) node.tabIndex = 0;
    this.current = node;
  }
}
