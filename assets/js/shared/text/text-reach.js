/** Pointer and keys in the text: what they point at is told, arrows walk from token to token, and Tab reaches one of them. */

import { closest, pointed } from "../kit/dom.js";
import { expand, spoken } from "./token/token.js";

const STOPS = "[data-serial], .hx-plus";

export class TextReach {
  /** @param {HTMLElement} el holds the parts
   *  @param {HTMLElement[]} parts a pointer that leaves one of them points at nothing
   *  @param {() => {model: import("../run/trace.js").TraceModel, cursor: number}} shown
   *  @param {(serial: number|null, info: object) => void} [onSelect] */
  constructor(el, parts, shown, onSelect) {
    this.el = el;
    this.flow = parts[0];
    this.shown = shown;
    this.onSelect = onSelect;
    /** @type {HTMLElement|null} */ this.current = null; // the node that Tab reaches
    this.pressed = false;
    this.listening = new AbortController();
    const { signal } = this.listening;
    /** @param {string} type @param {(event: any) => void} f */
    const on = (type, f) => el.addEventListener(type, f, { signal });
    on("pointerover", (e) => e.pointerType !== "touch" && pointed(e) && this.tell(e.target, "hover"));
    for (const part of parts)
      part.addEventListener("pointerleave", () => this.onSelect?.(null, { anchor: null, via: "leave" }), { signal });
    on("pointerdown", () => (this.pressed = true)); // focus that a press brings opens no card: the click does
    on("click", (e) => this._click(e));
    on("keydown", (e) => this._key(e));
    on("copy", (e) => copyPlain(e));
    on("focusin", (e) => this._focused(e.target));
  }

  /** What Tab reached may be gone: then it reaches the first token there is. */
  renew() {
    if (!this.current?.isConnected) this.reach(this.flow.querySelector(STOPS));
  }

  /** The one node that Tab reaches. @param {HTMLElement|null} node */
  reach(node) {
    if (this.current && this.current !== node) {
      this.current.tabIndex = -1;
      if (this.current.dataset.serial) for (const name of ["role", "aria-label"]) this.current.removeAttribute(name);
    }
    if (node) node.tabIndex = 0;
    this.current = node;
  }

  /** Says which token a node belongs to, and how it was pointed at. @param {Element} node @param {string} via */
  tell(node, via) {
    /** @type {HTMLElement|null} */ const anchor = node.closest("[data-serial]");
    if (!anchor || !this.el.contains(anchor)) return;
    const serials = (anchor.dataset.serials ?? anchor.dataset.serial ?? "").split(" ").map(Number);
    this.onSelect?.(serials[0], { anchor, via, serials });
  }

  _click(/** @type {MouseEvent|KeyboardEvent} */ event) {
    this.pressed = false;
    const ghosts = closest(event, ".hx-plus")?.closest(".hx-ghosts");
    if (ghosts) expand(/** @type {HTMLElement} */ (ghosts), this.shown().model);
    else if (getSelection()?.isCollapsed !== false) this.tell(/** @type {Element} */ (event.target), "click");
  }

  _key(/** @type {KeyboardEvent} */ event) {
    /** @type {HTMLElement[]} */ const stops = [...this.el.querySelectorAll(/** @type {any} */ (STOPS))];
    const here = closest(event, STOPS);
    const to = walk(
      event.key,
      stops.findIndex((stop) => stop === here),
      stops.length,
    );
    if (to !== null) stops[to]?.focus();
    else if (event.key === "Enter" || event.key === " ") this._click(event);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  _focused(/** @type {Element} */ node) {
    /** @type {HTMLElement|null} */ const stop = node.closest(STOPS);
    if (!stop) return;
    this.reach(stop);
    const { model, cursor } = this.shown();
    const record = model.tokens.get(Number(stop.dataset.serial));
    if (record) {
      stop.setAttribute("role", "button");
      stop.setAttribute("aria-label", spoken(record, model, cursor));
    }
    if (!this.pressed) this.tell(stop, "focus");
    this.pressed = false;
  }
}

// ---- Hands on the text: where an arrow key leads, and what a copy holds.

/** The stop that a key leads to from stop `here` of `count`; null for other keys. @param {string} key
 *  @param {number} here @param {number} count */
export function walk(key, here, count) {
  /** @type {Record<string, number|undefined>} */
  const stops = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: count - 1 };
  const to = stops[key];
  return to === undefined ? null : Math.min(Math.max(0, to), count - 1);
}

/** A copied selection is the committed text: no ghosts, no tentative tokens, no special tokens.
 *  @param {ClipboardEvent} event */
export function copyPlain(event) {
  const part = document.createElement("div");
  const selection = getSelection();
  for (let i = 0; selection && i < selection.rangeCount; i++) part.append(selection.getRangeAt(i).cloneContents());
  for (const node of part.querySelectorAll(".hx-ghosts, .hx-tree, [data-soft], [data-special]")) node.remove();
  event.clipboardData?.setData("text/plain", part.textContent ?? "");
  event.preventDefault();
}

// ---- Where the text is scrolled to: its end, which is the cursor, stays in sight until somebody scrolls away from it, and
// comes back whenever the cursor is moved to another place.

const NOWHERE = -1;
const NEAR = 8; // px from the end that still count as the end

export class TextFollow {
  /** @param {HTMLElement} el what scrolls @param {HTMLElement} flow the text in it @param {AbortSignal} signal */
  constructor(el, flow, signal) {
    this.el = el;
    this.sunk = 0; // where it was last scrolled to while its end was in sight
    this.moves = 0; // of the cursor, up to the last drawing
    this.low = true; // whether its end is in sight
    this.due = false; // whether the next drawing goes to the end
    this._set(true);
    // Asked for here, as every question in a drawing would lay it out.
    el.addEventListener("scroll", () => this._scrolled(), { signal });
    // A paragraph has a guessed height until it is in sight: the end moves once more when it is.
    const sizes = new ResizeObserver(() => this.settle());
    for (const one of [el, flow]) sizes.observe(one);
    signal.addEventListener("abort", () => sizes.disconnect());
  }

  /** Another run: its end is in sight. */
  clear() {
    this.sunk = 0;
    this._set(true);
  }

  /** How often the cursor was moved by hand: once more brings it into sight. @param {number} moves */
  moved(moves) {
    if (moves === this.moves) return;
    this.moves = moves;
    this.due = true;
  }

  /** Goes on to the text's end if that was in sight. Called when all else is drawn: it asks how high the text is. */
  settle() {
    // What was scrolled a moment ago has its event still to come, and must not be taken back.
    if (!this.due && !(this.low && this._low())) return;
    this.due = false;
    this._set(true);
    this.el.scrollTop = this.el.scrollHeight;
    this.sunk = this.el.scrollTop;
  }

  /** Brings a token into sight, a third below the top. @param {HTMLElement} node */
  bring(node) {
    const { el } = this;
    el.classList.add("hx-exact"); // no guessed heights, until a frame has seen the true ones
    const [token, room] = [node, el].map((x) => x.getBoundingClientRect());
    el.scrollTop += token.top - room.top - room.height / 3;
    this.sunk = NOWHERE;
    this._scrolled();
    requestAnimationFrame(() => requestAnimationFrame(() => el.classList.remove("hx-exact")));
  }

  _scrolled() {
    this._set(this._low());
    if (this.low) this.sunk = this.el.scrollTop;
  }

  /** Whether the text's end is in sight, or was when nobody has scrolled since. */
  _low() {
    const { scrollTop, scrollHeight, clientHeight } = this.el;
    return scrollTop === this.sunk || scrollHeight - scrollTop - clientHeight < NEAR;
  }

  /** @param {boolean} low */
  _set(low) {
    if (this.low === low) return;
    this.low = low;
    this.el.classList.toggle("hx-low", low); // what keeps a reader's place would keep it from its end
  }
}
