/** Pointer and keys in the text: what they point at is told, arrows walk from token to token, and Tab reaches one of them. */

import { pointed } from "../kit/pointer.js";
import { expand, spoken } from "./token/token.js";
import { copyPlain, walk } from "./text-keys.js";

const STOPS = "[data-serial], .hx-plus";

export class TextReach {
  /**
   * @param {HTMLElement} el holds the parts
   * @param {HTMLElement[]} parts a pointer that leaves one of them points at nothing
   * @param {() => {model: any, cursor: number}} shown
   * @param {(serial: number|null, info: object) => void} [onSelect]
   */
  constructor(el, parts, shown, onSelect) {
    this.el = el;
    this.flow = parts[0];
    this.shown = shown;
    this.onSelect = onSelect;
    /** @type {HTMLElement|null} */ this.current = null; // the node that Tab reaches
    this.pressed = false;
    this.listening = new AbortController();
    const { signal } = this.listening;
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

  /** Says which token a node belongs to, and how it was pointed at. */
  tell(node, via) {
    const anchor = node.closest?.("[data-serial]");
    if (!anchor || !this.el.contains(anchor)) return;
    const serials = (anchor.dataset.serials ?? anchor.dataset.serial).split(" ").map(Number);
    this.onSelect?.(serials[0], { anchor, via, serials });
  }

  _click(event) {
    this.pressed = false;
    const more = event.target.closest(".hx-plus");
    if (more) expand(more.closest(".hx-ghosts"), this.shown().model);
    else if (getSelection()?.isCollapsed !== false) this.tell(event.target, "click");
  }

  _key(event) {
    /** @type {HTMLElement[]} */ const stops = [...this.el.querySelectorAll(/** @type {any} */ (STOPS))];
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
