/** The name of the run that was asked for and is not over, kept while the page is loaded anew. */

const KEY = "hsd-explorer-pending";

/** @param {string|null} run null: there is none */
export function keepPending(run) {
  try {
    if (run) sessionStorage.setItem(KEY, run);
    else sessionStorage.removeItem(KEY);
  } catch {
    // A browser that keeps nothing for a page: then a run is not found again.
  }
}

/** The run that was pending when this page was loaded anew, or left and returned to; else null. */
export function pendingBefore() {
  const [entry] = performance.getEntriesByType("navigation");
  const again = entry instanceof PerformanceNavigationTiming && ["reload", "back_forward"].includes(entry.type);
  try {
    return again ? sessionStorage.getItem(KEY) : null;
  } catch {
    return null;
  }
}
