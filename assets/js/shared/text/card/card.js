/** The token card: where a token came from and what each verifier thought of it. It lies over the tower, or over the
 *  lanes where the text has the tower's place, never over the text; a sheet at the bottom on a phone. Hover shows it, a
 *  click pins it, Escape closes it. */

import { about, seen } from "./card-token.js";
import { isGreedy } from "../../levels/greedy.js";
import { element } from "../../kit/dom.js";
import { CARD } from "../../../../text/en/card.js";

const DELAY = 120; // ms before a hover counts
const LEAST = 150; // px of height that it always has
const NARROW = "(max-width: 900px)"; // one column: nothing stands beside the text

/** ctx.onSelect(serial|null): called when the card opens on a token or closes. */
export function create(host, ctx = {}) {
  const el = host.appendChild(element("section", "hx-card"));
  el.setAttribute("aria-label", CARD.label);
  el.hidden = true;
  const card = new Card(el, ctx);
  return {
    el,
    select: (serial, info) => card.select(serial, info ?? {}),
    hide: () => card.hide(),
    /** The serial that the card shows, null while it is closed: what the other views should mark. */
    get selected() {
      return el.hidden ? null : card.serials[0];
    },
    update: (model, cursor) => card.update(model, cursor),
    destroy() {
      card.destroy();
      el.remove();
    },
  };
}

class Card {
  constructor(el, ctx) {
    this.el = el;
    this.ctx = ctx;
    /** @type {import("../../run/trace.js").TraceModel|null} */ this.model = null;
    this.cursor = 0;
    /** @type {number[]} */ this.serials = [];
    /** @type {HTMLElement|null} */ this.anchor = null;
    this.pinned = false;
    this.timer = 0;
    this.drawn = "";
    this.listening = new AbortController();
    const { signal } = this.listening;
    document.addEventListener("keydown", (e) => this._escape(e), { signal });
    document.addEventListener("pointerdown", (e) => this._outside(e.target), { signal });
    addEventListener("resize", () => this._put(), { signal });
    document.addEventListener("scroll", () => this._put(), { signal, capture: true, passive: true });
  }

  destroy() {
    clearTimeout(this.timer);
    this.listening.abort();
  }

  update(model, cursor) {
    if (model !== this.model) this.hide();
    this.model = model;
    this.cursor = cursor;
    if (!this.el.hidden) this._draw();
  }

  select(serial, { anchor = null, via = "click", serials = null } = {}) {
    clearTimeout(this.timer);
    if (serial === null) {
      if (!this.pinned) this.timer = setTimeout(() => this.hide(), DELAY);
      return;
    }
    if (via === "hover" && this.pinned) return;
    const show = () => {
      this.pinned = via === "click";
      this.serials = serials ?? [serial];
      this.anchor = anchor;
      this.el.hidden = false;
      this._draw();
      this._put();
      if (this.pinned) this._reveal();
      this.ctx.onSelect?.(this.serials[0]);
    };
    if (via === "hover" && this.el.hidden) this.timer = setTimeout(show, DELAY);
    else show();
  }

  hide() {
    clearTimeout(this.timer);
    if (this.el.hidden) return;
    this.el.hidden = true;
    this.pinned = false;
    this.drawn = "";
    this.ctx.onSelect?.(null);
  }

  /** A sheet must not lie over the text, or where the text is too high for that, over the token. */
  _reveal() {
    if (!this.el.classList.contains("hx-sheet") || !this.anchor?.isConnected) return;
    const top = this.el.getBoundingClientRect().top;
    const text = this.anchor.closest(".hx-text-body")?.getBoundingClientRect();
    const token = this.anchor.getBoundingClientRect();
    const low = text && text.height <= top ? text.bottom : token.bottom + 28;
    if (low > top) scrollBy({ top: low - top });
  }

  /** Escape closes the card and, while there is one, means nothing else. */
  _escape(event) {
    if (event.key !== "Escape" || this.el.hidden) return;
    event.preventDefault();
    this.hide();
  }

  _outside(target) {
    if (this.el.hidden || this.el.contains(target) || target.closest?.("[data-serial]")) return;
    this.hide();
  }

  _draw() {
    const { model } = this;
    const records = this.serials.map((serial) => model?.tokens.get(serial)).filter((record) => record !== undefined);
    if (!model || !records.length) return this.hide();
    const signature =
      records.map((r) => [r.serial, model.state(r, this.cursor), seen(r, this.cursor).length]).join() + this.pinned;
    if (signature === this.drawn) return;
    this.drawn = signature;
    const close = element("button", "hx-card-close", "\u00d7");
    close.type = "button";
    close.setAttribute("aria-label", CARD.close);
    close.addEventListener("click", () => this.hide());
    this.el.classList.toggle("hx-pinned", this.pinned);
    const note = this.pinned || matchMedia(NARROW).matches ? "" : CARD.click;
    this.el.replaceChildren(
      close,
      ...records.map((r) => about(r, model, this.cursor, note === "")),
      element("p", "hx-card-note", CARD.bars(isGreedy(model) ? CARD.greedy : CARD.sampled) + note),
    );
  }

  /** Over what stands beside the text, inside the window. */
  _put() {
    const { el } = this;
    if (el.hidden) return;
    const narrow = matchMedia(NARROW).matches;
    el.classList.toggle("hx-sheet", narrow);
    const box = narrow ? null : dock(el.parentElement, this.anchor);
    el.classList.toggle("hx-card-wide", box?.wide ?? false);
    for (const side of ["left", "top", "width", "height", "least"])
      if (box) el.style.setProperty(`--${side}`, `${Math.round(box[side])}px`);
  }
}

/** The place of the card: that of the tower, else of the lanes; down to the window's end where there is room. Where the
 *  text fills the window, the end of the window that the token is not at. */
function dock(stage, token) {
  const tower = stage.querySelector(".hx-tower").getBoundingClientRect();
  const wide = tower.width === 0;
  const { left, top, width, height } = wide ? stage.querySelector(".hx-clock").getBoundingClientRect() : tower;
  const from = Math.min(Math.max(8, top), innerHeight - LEAST);
  const below = wide && token?.isConnected && token.getBoundingClientRect().bottom > from;
  return {
    wide,
    left,
    top: below ? 8 : from,
    width,
    height: below ? LEAST : innerHeight - from - 8,
    least: wide ? 0 : Math.min(height, innerHeight - from - 8),
  };
}
