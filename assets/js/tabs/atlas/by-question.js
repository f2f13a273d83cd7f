/** Where systems lie on the map, which of them a filter leaves, and who stands beside whom; and where one is in the
 *  Atlas, in the address. */

import { setQuery } from "../../shared/kit/tabs.js";

/** @typedef {{id: string, name: string, paper: string|null, year: number, who_drafts: string, how_judged: string, idea: string,
 *    exact: boolean|null, why: string, stack: string|null, recording: string|null, preset: string,
 *    headline: {figures: Reported[], on: string|null}|null, pays: string, loses: string, near: Record<string, string>,
 *    shape: string, here: string, also?: string[], ours: Ours[], first?: string, drawn: Record<string, any>}} System as app/tabs/atlas/systems.py declares it
 *  @typedef {{says: string, over?: string|null, of?: string|null, up_to?: boolean}} Reported a figure of a paper
 *  @typedef {{gain: number, low: number|null, high: number|null, prompts: number, stack: string, clock: string, machine: string,
 *    recorded: string, preset: string, bench: string|null, title: string, spared?: number|null}} Ours as app/tabs/atlas/our_figures.py finds it
 *  @typedef {{who: string, how: string, exact: string, here: boolean, find: string}} Filter "" where anything goes */

/** @type {Readonly<Filter>} */
export const ALL = Object.freeze({ who: "", how: "", exact: "", here: false, find: "" });

/** Exact, not exact, or open. @param {{exact: boolean|null}} system @returns {"yes"|"no"|"open"} */
export const exactly = ({ exact }) => (exact === null ? "open" : exact ? "yes" : "no");

/** Whether it runs here as it stands: "first" where something is needed first. @param {System} system @returns {"true"|"false"|"first"} */
export const runsHere = ({ stack, first }) => (stack === null ? "false" : first ? "first" : "true");

/** @param {Filter} filter */
export const filters = (filter) =>
  /** @type {(keyof Filter)[]} */ (Object.keys(ALL)).some((name) => filter[name] !== ALL[name]);

/** Whether a filter leaves a system. @param {System} system @param {Filter} filter */
export function passes(system, { who, how, exact, here, find }) {
  const { name, id, also = [], paper, year, who_drafts, how_judged, idea, headline } = system;
  const texts = headline?.figures.map(({ of }) => of) ?? [];
  const text = [name, id, ...also, paper, year, who_drafts, how_judged, idea, ...texts].join(" ");
  return (
    (!who || system.who_drafts === who) &&
    (!how || system.how_judged === how) &&
    (!exact || exactly(system) === exact) &&
    (!here || runsHere(system) === "true") &&
    says(text, find)
  );
}

/** Whether a text has all words that are looked for. @param {string} text @param {string} find */
export function says(text, find) {
  const words = find.toLowerCase().split(/\s+/).filter(Boolean);
  return words.every((word) => text.toLowerCase().includes(word));
}

/** The systems in the map's order: row by row, within a row column by column, within a cell the oldest first.
 *  @param {System[]} systems @param {string[]} rows @param {string[]} columns @returns {System[]} */
export function ordered(systems, rows, columns) {
  const rank = (/** @type {System} */ { who_drafts, how_judged, year }) => [
    rows.indexOf(who_drafts),
    columns.indexOf(how_judged),
    year,
  ];
  return [...systems].sort((a, b) => {
    const [one, other] = [rank(a), rank(b)];
    const at = one.findIndex((x, i) => x !== other[i]);
    return at < 0 ? a.name.localeCompare(b.name, "en") : one[at] - other[at];
  });
}

/** Who stands before and behind a system, in a circle; the system itself where it is alone.
 *  @param {System[]} list in its order @param {System} system @returns {{before: System, after: System}} */
export function beside(list, system) {
  const at = list.indexOf(system);
  if (at < 0) return { before: list.at(-1) ?? system, after: list[0] ?? system };
  return { before: list[(at - 1 + list.length) % list.length], after: list[(at + 1) % list.length] };
}

/** What a system shares with others.
 *  @param {System[]} systems @param {System} system @returns {{system: System, shares: string}[]} */
export const neighbours = (systems, system) =>
  Object.entries(system.near).flatMap(([id, shares]) => {
    const other = systems.find((one) => one.id === id);
    return other ? [{ system: other, shares }] : [];
  });

// Where one is in the Atlas, in the address: `?tab=atlas&system=pearl`, and what is filtered: `&who=`, `&how=`,
// `&exact=`, `&here=1`, `&find=`.

const LONGEST = 60; // of what is looked for
const EXACT = ["yes", "no", "open"];

/** @param {string[]} rows @param {string[]} columns who may draft, and how drafts may be judged
 *  @returns {{system: string|null, filter: Filter}} */
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

/** Writes the filter into the entry that is there. @param {Filter} filter */
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
