/** Words with a dotted line: a press opens what they mean. A room marks a word with `term`, a whole text with
 *  `explained`. */

import { element, h } from "../kit/dom.js";
import { GLOSSARY, GLOSSARY_SAY } from "../../../text/en/glossary.js";
import { pictureOf } from "./term-picture.js";

const SHEET = "(max-width: 640px)"; // a phone: the definition lies at the bottom of the window
const GAP = 8; // px between a word and its definition, and to the window's edge

/** A word of the glossary that can be pressed.
 *  @param {string} name of the entry
 *  @param {string} [text] as it stands there; the word itself if it is not given @returns {HTMLButtonElement} */
export function term(name, text = GLOSSARY[name].word) {
  const button = h("button.hx-term", {
    "aria-haspopup": "dialog",
    "aria-expanded": "false",
    text,
    onclick: () => definition().toggle(button, name),
  });
  return button;
}

/** Marks that stay with their word: a button is a box, beside which a line may break. */
const OPEN = /[([]*$/;
const CLOSE = /^[.,;:!?)\]]*/;

/** A text whose words of the glossary can be pressed, each at its first place alone.
 *  @param {string} text @param {Set<string>} [seen] entries that this screen has marked already; those found are added
 *  @returns {(string|HTMLElement)[]} */
export function explained(text, seen) {
  const parts = findTerms(text, seen);
  const marks = (/** @type {number} */ i, /** @type {RegExp} */ which) =>
    parts[i]?.entry === null ? (which.exec(parts[i].text)?.[0] ?? "") : "";
  return parts.map(({ text, entry }, i) => {
    if (entry === null)
      return text.slice(
        parts[i - 1] && marks(i, CLOSE).length,
        text.length - (parts[i + 1] ? marks(i, OPEN).length : 0),
      );
    const [before, after] = [marks(i - 1, OPEN), marks(i + 1, CLOSE)];
    const word = term(entry, text);
    return before || after ? h("span.hx-term-marked", [before, word, after]) : word;
  });
}

/** @type {Definition|null} */ let only = null; // one is open at a time
const definition = () => (only ??= new Definition());

class Definition {
  constructor() {
    /** @type {HTMLElement|null} */ this.from = null; // the word that it explains
    this.title = h("h2", { id: "hx-definition-title" });
    this.picture = h("div.hx-definition-picture", { "aria-hidden": "true" });
    this.says = h("p", { id: "hx-definition-says" });
    const close = h("button.hx-definition-close", {
      "aria-label": GLOSSARY_SAY.close,
      text: "\u00d7",
      onclick: () => this.hide(true),
    });
    this.see = h("a.hx-definition-see");
    this.el = h(
      "div.hx-definition",
      {
        ...{ role: "dialog", tabindex: "-1", hidden: true },
        ...{ "aria-labelledby": "hx-definition-title", "aria-describedby": "hx-definition-says" },
      },
      [close, this.title, this.picture, this.says, this.see],
    );
    document.body.append(this.el);
    // Before any part of the page: Escape closes it and means nothing else.
    addEventListener("keydown", (event) => this._key(event), { capture: true });
    document.addEventListener("pointerdown", ({ target }) => this._outside(/** @type {Node} */ (target)));
    this.el.addEventListener("focusout", ({ relatedTarget }) => {
      const to = /** @type {Node|null} */ (relatedTarget); // its word: the press that comes closes it
      if (to && to !== this.from && !this.el.contains(to)) this.hide(false);
    });
    for (const change of ["resize", "scroll"])
      addEventListener(change, () => this._put(), { capture: true, passive: true });
  }

  /** @param {HTMLElement} from @param {string} name */
  toggle(from, name) {
    const again = this.from === from;
    this.hide(again);
    if (!again) this._show(from, name);
  }

  /** @param {HTMLElement} from @param {string} name */
  _show(from, name) {
    const { word, says, picture, see } = GLOSSARY[name];
    this.from = from;
    from.setAttribute("aria-expanded", "true");
    this.title.textContent = word;
    this.says.replaceChildren(...says.map((sentence) => element("span", "", `${sentence} `)));
    this.picture.replaceChildren(pictureOf(picture));
    this.see.hidden = !see || "offline" in document.body.dataset;
    if (see) Object.assign(this.see, { href: see[0], textContent: see[1] });
    this.el.hidden = false;
    this._put();
    this.el.focus({ preventScroll: true });
  }

  /** @param {boolean} back whether the word gets the focus again */
  hide(back) {
    const { from } = this;
    if (!from) return;
    this.from = null;
    from.setAttribute("aria-expanded", "false");
    this.el.hidden = true;
    if (back && from.isConnected) from.focus({ preventScroll: true });
  }

  /** @param {KeyboardEvent} event */
  _key(event) {
    if (!this.from) return;
    const inside = this.el.contains(document.activeElement);
    if (event.key === "Tab" && inside) {
      const stops = [...this.el.querySelectorAll("button, a")].filter((one) => one.checkVisibility());
      const at = stops.indexOf(/** @type {Element} */ (document.activeElement)) + (event.shiftKey ? -1 : 1);
      if (stops[at]) return;
      this.hide(true); // the key goes on from the word
    } else if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      this.hide(true);
    }
  }

  /** @param {Node} target */
  _outside(target) {
    if (this.from && !this.el.contains(target) && !this.from.contains(target)) this.hide(false);
  }

  /** Below its word where there is room, else above; inside the window. */
  _put() {
    const { el, from } = this;
    if (!from) return;
    if (!from.isConnected) return this.hide(false);
    const sheet = matchMedia(SHEET).matches;
    el.classList.toggle("hx-definition-sheet", sheet);
    if (sheet) return;
    const word = from.getBoundingClientRect();
    const { offsetWidth: wide, offsetHeight: high } = el;
    const below = word.bottom + GAP + high <= innerHeight - GAP;
    el.style.setProperty("--left", `${Math.max(GAP, Math.min(word.left, innerWidth - wide - GAP))}px`);
    el.style.setProperty("--top", `${below ? word.bottom + GAP : Math.max(GAP, word.top - GAP - high)}px`);
  }
}

// Where words of the glossary stand in a text.

/** @type {Map<string, string>} the entry of a word's form, in small letters */
const ENTRIES = new Map(
  Object.entries(GLOSSARY).flatMap(([name, { word, forms = [] }]) =>
    [word, ...forms].map((form) => /** @type {[string, string]} */ ([form.toLowerCase(), name])),
  ),
);
const longestFirst = [...ENTRIES.keys()].sort((a, b) => b.length - a.length);
const FORMS = new RegExp(`(?<![\\p{L}-])(?:${longestFirst.join("|")})(?![\\p{L}-])`, "giu");

/** A text in parts: those that are a word of the glossary at its first place, and what stands between them.
 *  @param {string} text
 *  @param {Set<string>} seen entries that have been explained; those found here are added
 *  @returns {{text: string, entry: string|null}[]} */
export function findTerms(text, seen = new Set()) {
  const parts = [];
  let at = 0;
  for (const found of text.matchAll(FORMS)) {
    const entry = ENTRIES.get(found[0].toLowerCase()) ?? "";
    if (seen.has(entry)) continue;
    seen.add(entry);
    if (found.index > at) parts.push({ text: text.slice(at, found.index), entry: null });
    parts.push({ text: found[0], entry });
    at = found.index + found[0].length;
  }
  if (at < text.length) parts.push({ text: text.slice(at), entry: null });
  return parts;
}
