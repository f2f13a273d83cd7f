/** What is kept while the page is reloaded: the name of the run that was asked for and is not over, also while the page is
 *  closed for a while; a prompt that is too long for the address. */

import { LONGEST_PROMPT } from "./address.js";

const KEY = "hsd-explorer-pending";
const LEFT = "hsd-explorer-left";
const PROMPT = "hsd-explorer-prompt";
const PLACE_MS = 600_000; // so long the server keeps a place in line for a page that is closed
const keyOf = (/** @type {string} */ what) => (what ? `${KEY}-${what}` : KEY);

/** @param {string|null} run null: there is none @param {string} [what] whose: the Explore tab's, or another name */
export function keepPending(run, what = "") {
  try {
    if (run) sessionStorage.setItem(keyOf(what), run);
    else sessionStorage.removeItem(keyOf(what));
  } catch {
    // A browser that keeps nothing for a page: then a run is not found again.
  }
}

/** The run that was pending when this page was reloaded, or left and returned to, or closed some minutes ago; else null.
 *  @param {string} [what] */
export function pendingBefore(what = "") {
  try {
    const left = what ? null : leftBefore();
    return again() ? sessionStorage.getItem(keyOf(what)) : left;
  } catch {
    return null;
  }
}

/** Whether this page was here before: it was reloaded, or left and returned to. */
function again() {
  const [entry] = performance.getEntriesByType("navigation");
  return entry instanceof PerformanceNavigationTiming && ["reload", "back_forward"].includes(entry.type);
}

/** Keeps a prompt that the address cannot hold. @param {() => string} prompt what it is when the page goes */
export function keepPrompt(prompt) {
  addEventListener("pagehide", () => {
    try {
      const text = prompt();
      if (text.length > LONGEST_PROMPT) sessionStorage.setItem(PROMPT, text);
      else sessionStorage.removeItem(PROMPT);
    } catch {
      // As above.
    }
  });
}

/** The prompt that was too long for the address of this page, "" where there was none. */
export function promptBefore() {
  try {
    return (again() && sessionStorage.getItem(PROMPT)) || "";
  } catch {
    return "";
  }
}

/** Has the next page of this browser find the run that is pending when this one is closed. */
export function keepPlace() {
  addEventListener("pagehide", () => {
    try {
      const run = sessionStorage.getItem(KEY);
      if (run) localStorage.setItem(LEFT, JSON.stringify({ run, at: Date.now() }));
    } catch {
      // As above.
    }
  });
  addEventListener("pageshow", (event) => {
    if (event.persisted) leftBefore(); // it was not closed after all
  });
}

/** The run of a page that was closed, for one page to find. @returns {string|null} */
function leftBefore() {
  const left = JSON.parse(localStorage.getItem(LEFT) ?? "null");
  localStorage.removeItem(LEFT);
  return left && Date.now() - left.at < PLACE_MS ? left.run : null;
}
