/** The name of the run that was asked for and is not over, kept while the page is reloaded. */

const KEY = "hsd-explorer-pending";
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

/** The run that was pending when this page was reloaded, or left and returned to; else null. @param {string} [what] */
export function pendingBefore(what = "") {
  const [entry] = performance.getEntriesByType("navigation");
  const again = entry instanceof PerformanceNavigationTiming && ["reload", "back_forward"].includes(entry.type);
  try {
    return again ? sessionStorage.getItem(keyOf(what)) : null;
  } catch {
    return null;
  }
}
