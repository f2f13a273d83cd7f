/** Where one is in the Atlas, in the address: `?tab=atlas&system=pearl`, and what is filtered: `&who=`, `&how=`, `&exact=`,
 *  `&here=1`, `&find=`. */

import { setQuery } from "../../shared/kit/tabs.js";
import { ALL } from "./by-question.js";

const LONGEST = 60; // of what is looked for
const EXACT = ["yes", "no", "open"];

/**
 * @param {string[]} rows @param {string[]} columns who may draft, and how drafts may be judged
 * @returns {{system: string|null, filter: import("./by-question.js").Filter}}
 */
export function asked(rows, columns) {
  const query = new URLSearchParams(location.search);
  const one = (/** @type {string} */ name, /** @type {string[]} */ known) =>
    known.find((value) => value === query.get(name)) ?? "";
  return {
    system: query.get("system")?.slice(0, 80) ?? null,
    filter: {
      ...{ who: one("who", rows), how: one("how", columns), exact: one("exact", EXACT) },
      ...{ here: query.get("here") === "1", find: (query.get("find") ?? "").slice(0, LONGEST) },
    },
  };
}

/** Opens a system, null the map: a new entry in the history. @param {string|null} system */
export function go(system) {
  history.pushState(history.state, "");
  setQuery({ system });
}

/** Writes the filter into the entry that is there. @param {import("./by-question.js").Filter} filter */
export function filtered({ who, how, exact, here, find }) {
  setQuery({ who: who || null, how: how || null, exact: exact || null, here: here ? "1" : null, find: find || null });
}

/** The tab is left: its place goes with it. */
export function left() {
  setQuery({ system: null });
  filtered(ALL);
}

/** Makes a link lead to a system: in place, or into a window of its own. @param {HTMLElement} link @param {string} id @param {(id: string) => void} onOpen */
export function leadsTo(link, id, onOpen) {
  link.setAttribute("href", `?${new URLSearchParams({ tab: "atlas", system: id })}`);
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    onOpen(id);
  });
  return link;
}
