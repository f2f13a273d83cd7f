/** The text, token by token: committed tokens tinted by who supplied them, tentative ones at the end, rejected
 *  drafts as ghosts where they stood. The committed prefix is never touched again while nothing about it changes.
 *  Where a round has several candidates, they hang below the text's end as a comb. */

import { combNode } from "./comb-view.js";
import { origin } from "./copies.js";
import { colouring } from "./legend.js";
import { dress, element, expand, ghostNode, haunt, spoken, tokenNode } from "./token.js";
import { cellStart, paragraphStart, wanted } from "./text-items.js";
import { copyPlain, walk } from "./text-keys.js";
import { upTo } from "./trace.js";

const STOPS = "[data-serial], .hx-more";
const PART = 600; // tokens: while a longer text changes quickly its end alone is drawn, the rest in parts at rest
const LONG = 4 * PART;
const CALM = 40; // more new nodes than this at once appear without moving

const SOON_MS = 500;
const idle = globalThis.requestIdleCallback ?? ((f) => setTimeout(f, 30)); // Safari has none
const cancel = globalThis.cancelIdleCallback ?? clearTimeout;

/**
 * @param {HTMLElement} host
 * @param {{onSelect?: (serial: number|null, info: object) => void}} ctx
 */
export function create(host, ctx = {}) {
  const el = host.appendChild(element("div", "hx-text"));
  const flow = el.appendChild(element("div", "hx-flow"));
  flow.setAttribute("role", "group");
  flow.setAttribute("aria-label", "The text, token by token. Arrow keys move between tokens.");
  const comb = el.appendChild(element("div", "hx-comb-dock"));
  comb.hidden = true;
  const view = new TextView(el, flow, comb, ctx);
  return {
    el,
    update: (model, cursor, opts = {}) => view.update(model, cursor, opts),
    focus: (serial) => view.focus(serial),
    press: (serial) => view.press(serial),
    whole: () => view._all(),
    destroy() {
      view.listening.abort();
      view._later(false);
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
    on("scroll", () => this._scrolled()); // asked for here, as every question in a drawing would lay it out
    on("focusin", (e) => this._focused(e.target));
  }

  _clear() {
    this.model = null;
    /** @type {any[]} */ this.items = []; // {key, at, node, ends}, in order; ends: a paragraph ends behind it
    this._begin(0); // the committed token that the drawing begins with
    this.seen = 0; // committed tokens drawn, or before those
    this.style = "";
    this.flow.replaceChildren();
    this._hang(null, 0);
    this.current = null; // the node that Tab reaches
    this.marked = null;
    this.sunk = 0; // where it was last scrolled to its end
    this.low = true; // whether its end is in sight
    /** @type {boolean} */ this.haunted = true; // whether rejected drafts are shown
    /** @type {boolean} */ this.swift = false; // whether what is shown changes quickly
    this.origin = null; // what the marked token was copied from
  }

  update(model, cursor, { colourBy = "level", ghosts = "show", selected = null, round = null, swift = false } = {}) {
    if (!model?.header) {
      if (this.items.length) this._clear();
      return;
    }
    if (model !== this.model) this._clear();
    Object.assign(this, { model, cursor, haunted: ghosts !== "hide", swift });
    this.flow.dataset.ghosts = ghosts;
    this.flow.dataset.by = colourBy;
    const scheme = colouring(model, colourBy);
    const style = JSON.stringify([colourBy, ghosts, scheme.all ?? null]);
    const committed = model.committedAt(cursor);
    this._cut(committed);
    const same = style === this.style ? cellStart(model, Math.min(this.seen, committed)) : 0;
    const keep = Math.max(this.first, same);
    this._reconcile(keep, wanted(model, cursor, keep, committed, this.haunted), scheme);
    this.flow.classList.toggle("hx-waiting", this.items.length === 0);
    this._hang(ghosts === "hide" ? null : model, cursor);
    if (this.low) this._sink();
    this.style = style;
    this.seen = committed;
    this._select(selected);
    this._light(round);
    this._later(this.first > 0 && !(swift && this.low));
  }

  /** Of what is drawn of a cut text the height is known, not guessed: its end is where the view is put. */
  _begin(first) {
    this.first = first;
    this.flow.classList.toggle("hx-cut", first > 0);
  }

  /** Begins anew near the end of a long text when the cursor has left what is drawn, and while it moves quickly. */
  _cut(committed) {
    const drawn = committed - this.first;
    const long = drawn > LONG && (this.swift || committed - this.seen > LONG) && this._loose();
    if (!long && (this.first === 0 || drawn > PART / 2)) return;
    this.items = [];
    this.flow.replaceChildren();
    this._begin(paragraphStart(this.model, Math.max(0, committed - PART)));
    this.seen = this.first;
  }

  /** Whether nobody looks at, or stands in, the beginning of the text. */
  _loose() {
    return this.low && !this.flow.contains(document.activeElement) && !this.el.closest(".hx-whole");
  }

  /** Draws what is missing of the beginning, part by part, when there is time; or does not. */
  _later(wanted) {
    if (!wanted) {
      if (this.waiting) cancel(this.waiting);
      this.waiting = 0;
    } else if (!this.waiting)
      this.waiting = idle(
        () => {
          this.waiting = 0;
          this._before(PART);
          this._later(this.first > 0);
        },
        { timeout: SOON_MS },
      );
  }

  /** Draws at least so many tokens before those that are drawn. */
  _before(count) {
    if (this.first === 0 || !this.model) return;
    const { model, first } = this;
    const from = paragraphStart(model, Math.max(0, first - count));
    const scheme = colouring(model, this.flow.dataset.by);
    const news = wanted(model, this.cursor, from, first, this.haunted).filter(({ at }) => at < first);
    const part = document.createDocumentFragment();
    const items = news.map((item) => this._item(item, this._made(item), scheme));
    items.forEach(({ node }, i) => {
      if (i === 0 || items[i - 1].ends) part.append(element("div", "hx-par"));
      part.lastChild?.appendChild(node);
    });
    this.flow.prepend(part);
    this.items.unshift(...items);
    this._begin(from);
    if (this.low) this._sink();
    this.marked = null;
    this._select(this.selected);
    const round = this.round;
    this.round = null;
    this._light(round);
  }

  /** The whole text, at once. */
  _all() {
    this._before(Infinity);
    this._later(false);
  }

  _scrolled() {
    this.low = this._low();
    if (!this.low) this._later(this.first > 0);
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
    dock.replaceChildren(...(comb ? [combNode(comb, model, cursor, past ? "none now; before: " : "")] : []));
    const again =
      held === null ? null : (dock.querySelector(`[data-serial="${held}"]`) ?? this.flow.querySelector(STOPS));
    if (again) this._reach(again);
    if (focused) again?.focus();
  }

  _made(item) {
    return item.cell ? tokenNode(item.cell.serials[0]) : ghostNode();
  }

  _item(item, node, scheme) {
    if (item.cell) this._dress(node, item.cell, scheme);
    else haunt(node, item.heads, this.model, this._fresh(item.heads[item.heads.length - 1]));
    return { key: item.key, at: item.at, node, ends: item.cell?.text.endsWith("\n") ?? false };
  }

  _reconcile(from, wanted, scheme) {
    const cut = upTo(this.items, from - 1, (x) => x.at);
    const old = new Map(this.items.splice(cut).map((x) => [x.key, x.node]));
    const calm = this.swift || wanted.reduce((n, x) => n + (old.has(x.key) ? 0 : 1), 0) > CALM;
    let last = cut ? this.items[cut - 1] : null;
    for (const item of wanted) {
      const made = old.has(item.key) ? null : this._made(item);
      if (made && !calm) made.classList.add("hx-new");
      const node = made ?? old.get(item.key);
      old.delete(item.key);
      const drawn = this._item(item, node, scheme);
      const same = last !== null && !last.ends;
      const paragraph = same ? last.node.parentNode : this._paragraph(last);
      const next = same ? last.node.nextSibling : paragraph.firstChild;
      if (node !== next) paragraph.insertBefore(node, next);
      last = drawn;
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
    this.selected = serial;
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
    this._all();
    this._node(serial)?.focus();
  }

  /** Pins the card of a token, as a click on it does. */
  press(serial) {
    this._all();
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
    this._all();
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
