/** What the Planner shows: its first question, the doctor, or what experts ask. Which of them is in the address. */

import { h } from "../../shared/kit/dom.js";
import { setQuery } from "../../shared/kit/tabs.js";
import { openedBy } from "./link.js";
import { VIEWS } from "../../../text/en/planner.js";

/** @typedef {"plan"|"doctor"|"experts"} View */

/** The view that the address asks for: older links name what stands on the experts' page alone. @returns {View} */
export function viewAsked() {
  const query = new URLSearchParams(location.search);
  if (query.has("doctor")) return "doctor";
  return query.has("experts") || openedBy().size ? "experts" : "plan";
}

/** Buttons that change what the Planner shows. @param {(view: View) => void} onChange */
export function viewSwitch(onChange) {
  const buttons = /** @type {View[]} */ (["plan", "doctor", "experts"]).map((view) => ({
    view,
    el: h("button", { type: "button", class: "hx-quiet", text: VIEWS[view], onclick: () => show(view) }),
  }));
  /** @param {View} asked */
  function show(asked) {
    for (const { view, el } of buttons) el.setAttribute("aria-pressed", String(view === asked));
    setQuery({ doctor: asked === "doctor" ? "1" : null, experts: asked === "experts" ? "1" : null });
    onChange(asked);
  }
  const el = h(
    "div",
    { class: "hx-plan-views", role: "group", "aria-label": VIEWS.label },
    ...buttons.map((b) => b.el),
  );
  return { el, show };
}
