/** Small helpers for native DOM. Text always goes in as text: nothing here parses HTML. */

/** @typedef {HTMLElementEventMap} Events @typedef {HTMLElementTagNameMap} Tags @typedef {Node|string|false|null|undefined} Child */
/** @template {keyof Tags} T @typedef {{[E in keyof Events as `on${E}`]?: (event: Events[E] & {currentTarget: Tags[T]}) => void} &
 *   {style?: Record<string, string|number|null>, text?: string|number|null, [attribute: string]: unknown}} Attributes */
/** @typedef {Child|readonly Inside[]} Inside lists may stand in lists */

/** An element: `h("p.large", text)`, `h("ul", {"aria-label": label}, [item, other && another])`. `on*` keys are listeners,
 *  `text` is its text, `class` adds to the tag's, other keys are attributes; false, null and undefined leave an attribute or a
 *  child out. A button submits nothing.
 *  @template {keyof Tags} T @param {T | `${T}.${string}`} name @param {Attributes<T>|Inside} [attributes] @param {Inside} [inside]
 *  @returns {Tags[T]} */
export function h(name, attributes, inside) {
  const [tag, ...classes] = name.split(".");
  const element = /** @type {Tags[T]} */ (document.createElement(tag));
  if (classes.length) element.className = classes.join(" ");
  if (tag === "button") element.setAttribute("type", "button");
  if (attributes?.constructor !== Object) put(element, /** @type {Inside} */ (inside ?? attributes));
  else {
    for (const [key, value] of Object.entries(/** @type {Record<string, any>} */ (attributes))) {
      if (value === false || value === null || value === undefined) continue;
      if (key === "text") element.textContent = value;
      else if (key === "style") for (const [name, v] of Object.entries(value)) element.style.setProperty(name, v);
      else if (key === "class") element.className = [...classes, value].join(" ");
      else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else element.setAttribute(key, value === true ? "" : value);
    }
    put(element, inside);
  }
  return element;
}

/** @param {Element} element @param {Inside} inside */
function put(element, inside) {
  if (Array.isArray(inside)) for (const one of inside) put(element, one);
  else if (inside) element.append(/** @type {Node|string} */ (inside));
}

/** An element with a class and text alone, for what is made by the hundred.
 *  @template {keyof Tags} T @param {T} tag @param {string|false|undefined} className @param {string} [text] @returns {Tags[T]} */
export function element(tag, className, text = "") {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== "") node.textContent = text;
  return node;
}

/** What an event happened in. @param {Event} event @param {string} selector @returns {HTMLElement|null} */
export function closest({ target }, selector) {
  return target instanceof Element ? target.closest(selector) : null;
}

/** Sets text only when it differs, so that nothing is repainted for nothing. @param {Node|null} element @param {string} text */
export function say(element, text) {
  if (element && element.textContent !== text) element.textContent = text;
}

const ICONS = {
  more: "M5 12h.01M12 12h.01M19 12h.01",
  down: "M6 9l6 6 6-6",
  up: "M6 15l6-6 6 6",
  theme: "M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18",
  copy: "M9 9h10v10H9zM5 15V5h10",
  save: "M12 4v11m-4-4l4 4 4-4M5 19h14",
  open: "M12 16V5m-4 4l4-4 4 4M5 19h14",
  remove: "M6 6l12 12M18 6L6 18",
  undo: "M8 5L4 9l4 4M4 9h10a5 5 0 0 1 0 10h-4",
  add: "M12 5v14M5 12h14",
  print: "M7 9V4h10v5M7 17H4V9h16v8h-3M7 14h10v6H7z",
  help: "M9 9a3 3 0 1 1 4.2 2.8c-.8.4-1.2 1-1.2 2M12 17.5h.01M12 3a9 9 0 1 0 .01 0z",
  picture: "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M9 9h.01",
  share: "M18 8a3 3 0 1 0-.01 0M6 15a3 3 0 1 0-.01 0M18 22a3 3 0 1 0-.01 0M8.6 13.5l6.8 4M15.4 6.5l-6.8 4",
  code: "M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h2v2h-2zM18 18h2v2h-2zM14 19h1M19 14h1",
  present: "M3 5h18v11H3zM12 16v4M8 20h8",
  grip: "M9 6h.01M15 6h.01M9 12h.01M15 12h.01M9 18h.01M15 18h.01",
};

/** A line icon; decoration only, so name the button that holds it. @param {keyof typeof ICONS} name */
export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "hx-icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/** A button that opens a panel below it. Esc and a click elsewhere close it; focus goes back to the button.
 *  @param {HTMLElement} button @param {HTMLElement} panel @param {{onOpen?: () => void, label?: string}} options
 *  @returns {{el: HTMLElement, button: HTMLElement, panel: HTMLElement, close: () => void, destroy: () => void}} */
export function popover(button, panel, { onOpen = () => {}, label = "" } = {}) {
  const el = h("div.hx-pop", [button, panel]);
  panel.hidden = true;
  panel.classList.add("hx-pop-panel");
  if (label) panel.setAttribute("aria-label", label);
  button.setAttribute("aria-expanded", "false");
  const set = (/** @type {boolean} */ open) => {
    if (open === !panel.hidden) return;
    panel.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
    if (open) onOpen();
  };
  button.addEventListener("click", () => set(Boolean(panel.hidden)));
  el.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || panel.hidden) return;
    event.stopPropagation();
    set(false);
    button.focus();
  });
  const outside = (/** @type {PointerEvent} */ { target }) => {
    if (target instanceof Node && !el.contains(target)) set(false);
  };
  document.addEventListener("pointerdown", outside);
  el.addEventListener("focusout", (event) => {
    if (event.relatedTarget instanceof Node && !el.contains(event.relatedTarget)) set(false);
  });
  return {
    el,
    button,
    panel,
    close: () => set(false),
    destroy: () => document.removeEventListener("pointerdown", outside),
  };
}

/** Arrow keys, Home and End move between the items of a list of buttons. @param {HTMLElement} list @param {string} selector */
export function arrows(list, selector) {
  list.addEventListener("keydown", (event) => {
    const items = [.../** @type {NodeListOf<HTMLElement>} */ (list.querySelectorAll(selector))];
    const at = items.findIndex((item) => item === document.activeElement);
    /** @type {Record<string, number>} */ const moves = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: items.length - 1,
    };
    const to = moves[event.key];
    if (to === undefined || !items.length) return;
    event.preventDefault();
    items[(to + items.length) % items.length].focus();
  });
}

/** Shows the `data-tip` of what is hovered or focused inside `root`; one tip at a time. @param {HTMLElement} root */
export function tips(root) {
  const tip = h("div.hx-tip", { role: "tooltip", id: "hx-tip", hidden: true });
  root.append(tip);
  const ownerOf = (/** @type {Event} */ event) => closest(event, "[data-tip]");
  const show = (/** @type {Event} */ event) => {
    const owner = ownerOf(event);
    if (!owner || !root.contains(owner) || owner.querySelector('[aria-expanded="true"]')) return hide();
    tip.textContent = owner.dataset.tip ?? "";
    tip.hidden = false;
    const box = owner.getBoundingClientRect();
    const wide = tip.offsetWidth;
    tip.style.left = `${Math.max(8, Math.min(box.left, innerWidth - wide - 8))}px`;
    const above = box.top - tip.offsetHeight - 8;
    tip.style.top = `${box.top > innerHeight / 3 ? above : box.bottom + 8}px`; // never over the title bar
    owner.setAttribute("aria-describedby", "hx-tip");
  };
  let waiting = 0;
  const hide = () => {
    clearTimeout(waiting);
    tip.hidden = true;
  };
  // Whoever has pressed something looks at what that changed: its tip comes when the pointer has left it and returned.
  /** @type {DOMRect|null} */ let pressed = null; // a place: what stood there may have been drawn anew
  root.addEventListener("pointerover", (event) => {
    hide();
    const { clientX: x, clientY: y } = event;
    if (pressed && (x < pressed.left || x > pressed.right || y < pressed.top || y > pressed.bottom)) pressed = null;
    if (pointed(event) && !pressed) waiting = setTimeout(() => show(event), 300);
  });
  /** @type {HTMLElement|null} */ let focused = null;
  root.addEventListener("focusin", (event) => {
    const owner = ownerOf(event);
    const again = focused && !focused.isConnected && owner?.dataset.tip === focused.dataset.tip; // drawn anew by a key
    focused = owner;
    if (event.target instanceof Element && event.target.matches(":focus-visible") && !again) show(event);
  });
  root.addEventListener("pointerdown", (event) => {
    hide();
    pressed = ownerOf(event)?.getBoundingClientRect() ?? null;
  });
  root.addEventListener("pointerleave", () => {
    pressed = null;
    hide();
  });
  for (const done of ["change", "input", "focusout"]) root.addEventListener(done, hide);
  root.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
}

/** A button whose face is an icon or a sign; its tip is its name. @param {keyof typeof ICONS|"←"|"→"|"×"} face
 *  @param {string} label @param {() => void} onclick @param {string|null} [className] */
export const faceButton = (face, label, onclick, className = null) =>
  h("button.hx-icon-button", { class: className, "aria-label": label, "data-tip": label, onclick }, [
    face in ICONS ? icon(/** @type {keyof typeof ICONS} */ (face)) : face,
  ]);

/** A step back or on: one event, or one position. @param {-1|1} step @param {string} label @param {() => void} onclick */
export const stepButton = (step, label, onclick) => faceButton(step < 0 ? "←" : "→", label, onclick, "hx-an-step");

// Whether something was pointed at. Another tab that a button opens is drawn below a pointer that rests: what comes
// to lie there was not pointed at, until the pointer moves.

let now = ""; // where the pointer is
let resting = "none"; // where it was when the tab was opened

const place = (/** @type {PointerEvent} */ { clientX, clientY }) => `${clientX} ${clientY}`;

for (const kind of /** @type {const} */ (["pointermove", "pointerdown"]))
  globalThis.addEventListener?.(kind, (event) => (now = place(event)), { capture: true, passive: true });

/** What lies below the pointer changes, and not because it moves. */
export function rest() {
  resting = now;
}

/** @param {PointerEvent} event that says what the pointer is over */
export function pointed(event) {
  if (place(event) === resting) return false;
  resting = "none";
  return true;
}

// What stands one step behind: a heading that opens it, by the browser's own means, so that keys, screen readers and
// the search in the page know it.

/** @param {string} name in the page and its address @param {string} title @param {Node[]} inside
 *  @param {{about?: string, onOpen?: () => void}} [more] about: what is inside, beside the title
 *  @returns {HTMLDetailsElement} */
export function disclosure(name, title, inside, { about = "", onOpen = () => {} } = {}) {
  const said = about ? h("span.hx-more-about", about) : null;
  const summary = h("summary", [h("h2.hx-more-title", title), said]);
  const el = h("details.hx-more", { "data-more": name }, [summary, h("div.hx-more-body", inside)]);
  el.addEventListener("toggle", () => el.open && onOpen());
  return /** @type {HTMLDetailsElement} */ (el);
}
