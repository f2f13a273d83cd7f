/** What is kept while the page is reloaded: the name of the run that was asked for and is not over, also while the page is
 *  closed for a while; a prompt that is too long for the address; the file that was opened last, which no server keeps. */

import { LONGEST_PROMPT } from "./address.js";

const KEY = "hsd-explorer-pending";
const LEFT = "hsd-explorer-left";
const PROMPT = "hsd-explorer-prompt";
const FILE = "hsd-explorer-file";
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

/** Keeps a file that was opened, or came inside a link, as long as this page is not closed; another one takes its place.
 *  @param {string} run that it is shown as @param {string} name @param {string} base64 */
export function keepFile(run, name, base64) {
  try {
    sessionStorage.removeItem(FILE);
    sessionStorage.setItem(FILE, JSON.stringify({ run, name, base64 }));
  } catch {
    // As above; or the file is larger than what a browser keeps, some 5 MB.
  }
}

/** The file that was shown as this run, null where it is not kept. @param {string} run @returns {{name: string, base64: string}|null} */
export function fileBefore(run) {
  try {
    const kept = JSON.parse(sessionStorage.getItem(FILE) ?? "null");
    return kept?.run === run ? { name: kept.name, base64: kept.base64 } : null;
  } catch {
    return null;
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
