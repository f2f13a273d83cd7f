/** The page's tabs, which Gradio draws: open one by its name (app/tabs/__init__.py), or the one that the address asks for. */

import { closest, rest } from "./dom.js";

const TABS = '#tabs [role="tab"]';
const all = () => [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(TABS))];
const ID = /^tab-(.+)-button$/; // the button of a tab with elem_id "tab-NAME", as Gradio names it (app/kit/gradio_inside.py)
const nameOf = (/** @type {HTMLElement} */ tab) => ID.exec(tab.id)?.[1] ?? "";
/** @type {Record<string, string>} */ const FORMER = { play: "explore" }; // names that older links have
const named = (/** @type {string} */ name) => {
  const wanted = name.toLowerCase();
  return document.getElementById(`tab-${FORMER[wanted] ?? wanted}-button`);
};

/** Whether it is the open one. @param {string} name */
export const isOpen = (name) => named(name)?.getAttribute("aria-selected") === "true";

/** Calls `f` whenever another tab is opened. @param {() => void} f */
export function onTabs(f) {
  const bar = document.querySelector("#tabs > .tab-wrapper") ?? document.body;
  new MutationObserver(f).observe(bar, { subtree: true, attributeFilter: ["aria-selected"] });
}

/** Opens a tab from another one: what had the focus goes out of sight, so the tab takes it. @param {string} name */
export function openTab(name) {
  const tab = named(name);
  if (!tab) return;
  rest();
  tab.click();
  tab.focus({ preventScroll: true });
  tab.scrollIntoView({ inline: "nearest", block: "nearest" });
}

/** `?tab=planner` opens that tab at once; from then on the address names the tab that is open, and Back and Forward lead
 *  from tab to tab. `first` overrules the address. */
export function tabAsked(first = "") {
  let led = false; // by the address, which then needs no other entry
  const lead = (/** @type {string} */ name) => {
    led = true;
    const tab = named(name) ?? (name ? null : all()[0]);
    tab?.click();
    tab?.scrollIntoView({ inline: "nearest", block: "nearest" });
    led = false;
  };
  const asked = () => (new URLSearchParams(location.search).get("tab") ?? "").slice(0, 40);
  document.addEventListener("click", (event) => follow(closest(event, TABS), led), { capture: true });
  addEventListener("popstate", () => lead(asked()));
  lead(first || asked());
}

/** Each tab begins at its top; the first one needs no name in the address. */
function follow(/** @type {HTMLElement|null} */ tab, /** @type {boolean} */ led) {
  if (!tab || tab.getAttribute("aria-selected") === "true") return;
  scrollTo(0, 0);
  if (!led) history.pushState(history.state, "");
  setQuery({ tab: tab === all()[0] ? null : nameOf(tab) });
}

/** Writes these parameters into the address and leaves the others; null takes one out. */
export function setQuery(/** @type {Record<string, string|null>} */ values) {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(values)) value === null ? query.delete(name) : query.set(name, value);
  const text = query.toString();
  history.replaceState(history.state, "", location.pathname + (text ? `?${text}` : "") + location.hash);
}
