/** The page goes to an address that nobody typed into it: in place where its tabs can, else it is opened there. */

import { covered } from "../kit/curtain.js";

const FIRST = "explore";
const IN_PLACE = new Set([FIRST, "learn", "race", "atlas"]);
/** @type {Map<string, () => unknown>} */ const showing = new Map();

/** A tab that is drawn says how it shows what the address asks for. One that is not drawn yet reads the address then.
 *  @param {string} tab @param {() => unknown} show */
export const onArrival = (tab, show) => void showing.set(tab, show);

/** Where an address leads: its tab. @param {string} search */
export const tabOf = (search) => new URLSearchParams(search).get("tab") || FIRST;

/** Goes there, with an entry in the history, so that Back leads to where one was.
 *  @param {string} address "?..." with or without "#..."
 *  @param {() => void} leaves called before the page is left to be opened there */
export async function arrive(address, leaves) {
  const to = new URL(address, location.href);
  const tab = tabOf(to.search);
  if (covered() || !IN_PLACE.has(tab)) {
    leaves();
    location.assign(to);
    return;
  }
  history.pushState(null, "", to);
  dispatchEvent(new PopStateEvent("popstate", { state: null })); // the tabs, and the lessons, read the address
  await new Promise((resolve) => setTimeout(resolve)); // a lesson that is left puts its own settings into the address
  if (showing.has(tab)) history.replaceState(history.state, "", to);
  await showing.get(tab)?.();
}
