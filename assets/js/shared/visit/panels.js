/** What of the first screen is open. A newcomer meets the prompt, the text with its caption, the tower and the speed-up;
 *  all else lies one press behind, in layers: where the time goes, the prediction, changing the stack, all other
 *  controls, the marks of each token, and on a narrow window the live charts. What is open stays open: in the session, and once it is changed in the address (`?panel=time+stack`). */

import { h, icon } from "../kit/dom.js";
import { setQuery } from "../kit/tabs.js";

export const PANELS = ["time", "prediction", "stack", "controls", "charts", "details"];
/** What an address may name beside them: buttons of a menu, among all other controls. */
const MENUS = /** @type {Record<string, string>} */ ({
  recordings: ".hx-recordings",
  examples: ".hx-examples",
  settings: ".hx-open-settings",
  share: ".hx-share-open",
  help: ".hx-open-help",
});
const KEPT = "hx-panels"; // in the session, as in the address

/** The panels that a text names. @param {string|null} text */
const named = (text) => new Set((text ?? "").split(" ").filter((name) => PANELS.includes(name)));

export class Panels {
  constructor() {
    const asked = new URLSearchParams(location.search).get("panel");
    this.open = named(asked ?? kept());
    /** @type {Set<string>} */ this.lent = new Set(); // opened by a lesson, not by the visitor
    /** @type {Map<string, HTMLElement[]>} */ this.buttons = new Map(PANELS.map((name) => [name, []]));
    /** @type {(() => void)[]} */ this.hearing = [];
    /** @type {HTMLElement|null} */ this.root = null;
  }

  /** The element that says what is open, as `data-open`: what lies in a closed panel is not displayed. @param {HTMLElement} root */
  attach(root) {
    this.root = root;
    this._show();
  }

  /** Opens what the address names, and presses the buttons of menus. */
  begin() {
    const asked = new URLSearchParams(location.search).get("panel");
    if (asked === null) return;
    this.open = named(asked);
    this._show();
    for (const name of asked.split(" ").filter((one) => Object.hasOwn(MENUS, one))) {
      this.lend(["controls"]);
      /** @type {HTMLElement|null|undefined} */ (this.root?.querySelector(MENUS[name]))?.click();
    }
  }

  /** @param {string} name */
  isOpen(name) {
    return this.open.has(name) || this.lent.has(name);
  }

  /** Calls `f` whenever a panel opens or closes. @param {() => void} f */
  onChange(f) {
    this.hearing.push(f);
  }

  /** A button that opens a panel and closes it.
   *  @param {string} name of the panel @param {string} text @param {string} tip */
  button(name, text, tip) {
    const button = h(
      "button",
      {
        class: `hx-unfold hx-unfold-${name}`,
        "data-tip": tip,
        ...{ "aria-expanded": String(this.isOpen(name)), onclick: () => this.set(name, !this.isOpen(name)) },
      },
      [h("span", text), icon("down")],
    );
    this.buttons.get(name)?.push(button);
    return button;
  }

  /** @param {string} name @param {boolean} on */
  set(name, on) {
    this.lent.delete(name);
    if (on) this.open.add(name);
    else this.open.delete(name);
    const text = PANELS.filter((one) => this.open.has(one)).join(" ");
    keep(text);
    setQuery({ panel: text || null });
    this._show();
  }

  /** Opens panels for as long as somebody needs them, unless they are; [] gives them back. @param {string[]} names */
  lend(names) {
    if (!names.length) this.lent.clear();
    for (const name of names) if (!this.open.has(name)) this.lent.add(name);
    this._show();
  }

  _show() {
    if (this.root) this.root.dataset.open = PANELS.filter((name) => this.isOpen(name)).join(" ");
    for (const [name, buttons] of this.buttons)
      for (const button of buttons) button.setAttribute("aria-expanded", String(this.isOpen(name)));
    for (const f of this.hearing) f();
  }
}

function kept() {
  try {
    return sessionStorage.getItem(KEPT);
  } catch {
    return null; // a browser that keeps nothing
  }
}

/** @param {string} text */
function keep(text) {
  try {
    sessionStorage.setItem(KEPT, text);
  } catch {
    // they stay open until the page is left
  }
}
