/** What the Planner shows: its first question, the doctor, or the experts' page and what stands on it. Which of
 *  them is in the address. */

import { h } from "../../shared/kit/dom.js";
import { setQuery } from "../../shared/kit/tabs.js";
import { isDark } from "../../shared/kit/theme.js";
import { onLook } from "../../shared/plots/look.js";
import { openedBy } from "./link.js";
import { VIEWS } from "../../../text/en/planner.js";

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

// What the page looks like, as far as figures are made for it: light or dark, a phone, a screen or a wall.

const [PHONE, WALL] = [700, 1800]; // px of the page, as in planner.css

const size = () => (innerWidth < PHONE ? "phone" : innerWidth < WALL ? "screen" : "wall");

export const look = () => `${size()} ${isDark()}`;

/** Calls back when the page looks otherwise than `drawn` says. @param {() => string|null} drawn null: nothing was drawn @param {() => void} onOther */
export function watchLook(drawn, onOther) {
  onLook(() => {
    const was = drawn();
    if (was !== null && was !== look()) onOther();
  });
}
