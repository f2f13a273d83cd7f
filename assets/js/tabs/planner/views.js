/** What the Planner shows: its first question, the doctor, or the experts' page and what stands on it. Which of
 *  them is in the address. */

import { h, disclosure } from "../../shared/kit/dom.js";
import { setQuery } from "../../shared/kit/tabs.js";
import { openedBy } from "./link.js";
import { VIEWS, AHEAD, BEHIND } from "../../../text/en/planner.js";

/** @typedef {"plan"|"load"|"doctor"|"experts"} View */

/** The view that the address asks for: older links name what stands on the experts' page alone. @returns {View} */
export function viewAsked() {
  const query = new URLSearchParams(location.search);
  if (query.has("requests")) return "load";
  if (query.has("doctor")) return "doctor";
  return query.has("experts") || openedBy().size ? "experts" : "plan";
}

/** Buttons that change what the Planner shows. @param {(view: View) => void} onChange */
export function viewSwitch(onChange) {
  const buttons = /** @type {View[]} */ (["plan", "load", "doctor", "experts"]).map((view) => ({
    view,
    el: h("button.hx-quiet", { text: VIEWS[view], onclick: () => show(view) }),
  }));
  /** @param {View} asked */
  function show(asked) {
    for (const { view, el } of buttons) el.setAttribute("aria-pressed", String(view === asked));
    const requests = new URLSearchParams(location.search).get("requests") ?? "8";
    setQuery({
      requests: asked === "load" ? requests : null,
      doctor: asked === "doctor" ? "1" : null,
      experts: asked === "experts" ? "1" : null,
    });
    onChange(asked);
  }
  const el = h("div.hx-plan-views", { role: "group", "aria-label": VIEWS.label }, [buttons.map((b) => b.el)]);
  return { el, show };
}

// What stands on the experts' page of the Planner.

/** @param {Record<string, Node[]>} parts by name, in their order
 *  @param {Record<string, [string, string]>} named of those that systems bring: a title, and what is inside
 *  @param {boolean} ahead their answers were worked out ahead
 *  @param {() => void} onOpen what was out of sight is to be drawn */
export function behind(parts, named, ahead, onOpen) {
  const asked = openedBy();
  const all = Object.entries(parts).map(([name, inside]) => {
    const [title, about] = (ahead && AHEAD.behind[name]) || BEHIND[name] || named[name];
    if (ahead && AHEAD.notes[name]) inside.unshift(h("p.hx-plan-text", withCode(AHEAD.notes[name])));
    const el = disclosure(name, title, inside, { about, onOpen });
    el.open = asked.has(name);
    el.addEventListener("toggle", () => told(all));
    return el;
  });
  const lead = h("p.hx-plan-text", VIEWS.expertsLead);
  const el = h("section.hx-plan-behind", { "aria-label": VIEWS.experts }, [lead, all]);
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
const withCode = ([before, after]) => [before, h("code", AHEAD.start), after];
