/** Which systems the map shows: a word, who drafts, how drafts are judged, exact or not, and whether they run here. */

import { h } from "../../shared/kit/dom.js";
import { ALL, filters } from "./by-question.js";
import { FILTERS, HOW, WHO } from "../../../text/en/atlas.js";

/** @typedef {import("./by-question.js").Filter} Filter */

/** @param {{onChange: (filter: Filter) => void}} ctx */
export function filterBar({ onChange }) {
  const find = h("input", {
    ...{
      type: "search",
      class: "hx-atlas-find",
      placeholder: FILTERS.find,
      "aria-label": FILTERS.find,
      maxlength: "60",
    },
    oninput: () => changed(),
  });
  const picker = (/** @type {string} */ label, /** @type {string} */ any, /** @type {[string, string][]} */ options) =>
    h(
      "select",
      { class: "hx-select", "aria-label": label, onchange: () => changed() },
      h("option", { value: "", text: any }),
      ...options.map(([value, text]) => h("option", { value, text })),
    );
  const named = (/** @type {Record<string, {name: string}>} */ all) =>
    Object.entries(all).map(([value, { name }]) => /** @type {[string, string]} */ ([value, name]));
  const who = picker(FILTERS.who, FILTERS.anyWho, named(WHO));
  const how = picker(FILTERS.how, FILTERS.anyHow, named(HOW));
  const exact = picker(FILTERS.exact, FILTERS.anyExact, Object.entries(FILTERS.exactly));
  const here = h("input", { type: "checkbox", onchange: () => changed() });
  const clear = h("button", {
    ...{ type: "button", class: "hx-quiet", text: FILTERS.clear, hidden: true },
    onclick: () => {
      set(ALL);
      onChange(ALL);
      find.focus();
    },
  });
  const el = h(
    "div",
    { class: "hx-atlas-filters", role: "search", "aria-label": FILTERS.label },
    ...[find, who, how, exact],
    h("label", { class: "hx-tick" }, here, FILTERS.here),
    clear,
  );

  function changed() {
    const filter = { who: who.value, how: how.value, exact: exact.value, here: here.checked, find: find.value };
    clear.hidden = !filters(filter);
    onChange(filter);
  }

  /** @param {Filter} filter */
  function set(filter) {
    [who.value, how.value, exact.value] = [filter.who, filter.how, filter.exact];
    here.checked = filter.here;
    if (find.value !== filter.find) find.value = filter.find; // else the caret would jump
    clear.hidden = !filters(filter);
  }
  return { el, set };
}
