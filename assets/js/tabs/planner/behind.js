/** What stands on the experts' page of the Planner. Which of it is open is in the address. */

import { disclosure } from "../../shared/kit/disclosure.js";
import { h } from "../../shared/kit/dom.js";
import { setQuery } from "../../shared/kit/tabs.js";
import { openedBy } from "./link.js";
import { AHEAD, BEHIND, VIEWS } from "../../../text/en/planner.js";

/**
 * @param {Record<string, Node[]>} parts by name, in their order
 * @param {Record<string, [string, string]>} named of those that systems bring: a title, and what is inside
 * @param {boolean} ahead their answers were worked out ahead
 * @param {() => void} onOpen what was out of sight is to be drawn
 */
export function behind(parts, named, ahead, onOpen) {
  const asked = openedBy();
  const all = Object.entries(parts).map(([name, inside]) => {
    const [title, about] = (ahead && AHEAD.behind[name]) || BEHIND[name] || named[name];
    if (ahead && AHEAD.notes[name]) inside.unshift(h("p", { class: "hx-plan-text" }, ...withCode(AHEAD.notes[name])));
    const el = disclosure(name, title, inside, { about, onOpen });
    el.open = asked.has(name);
    el.addEventListener("toggle", () => told(all));
    return el;
  });
  const lead = h("p", { class: "hx-plan-text", text: VIEWS.expertsLead });
  const el = h("section", { class: "hx-plan-behind", "aria-label": VIEWS.experts }, lead, ...all);
  return {
    el,
    /** The page is shown, or no more: what is open on it stands in the address while it is. @param {boolean} shown */
    show: (shown) => (shown ? told(all) : setQuery({ data: null })),
  };
}

/** @param {HTMLDetailsElement[]} all */
function told(all) {
  const open = all.filter((el) => el.open).map((el) => el.dataset.more);
  setQuery({ data: open.length ? open.join(",") : null });
}

/** A sentence with its command as code. @param {[string, string]} around */
const withCode = ([before, after]) => [before, h("code", { text: AHEAD.start }), after];
