/** The map: a row for each kind of drafter, a column for each way of judging, and in each cell its systems; on a
 *  phone a list. Above it what filters them. */

import { h, say } from "../../shared/kit/dom.js";
import { leadsTo, passes, runsHere, ALL, filters } from "./by-question.js";
import { chipOf } from "./chip.js";
import { ATLAS, HOW, WHO, FILTERS } from "../../../text/en/atlas.js";

/** @typedef {import("./by-question.js").System} System @typedef {import("./by-question.js").Filter} Filter */

export const ROWS = Object.keys(WHO);
export const COLUMNS = Object.keys(HOW);

const BEGIN = ["speculative-decoding", "hsd", "hispec", "hierarchy-drafting"]; // the step that all share, and our papers

export class AtlasMap {
  /** @param {{onOpen: (id: string) => void, onFilter: (filter: Filter) => void}} ctx */
  constructor({ onOpen, onFilter }) {
    this.onOpen = onOpen;
    /** @type {System[]} */ this.systems = [];
    /** @type {Map<string, HTMLElement>} */ this.links = new Map();
    this.bar = filterBar({
      onChange: (filter) => {
        onFilter(filter);
        this.filter(filter);
      },
    });
    this.title = h("h1", { tabindex: "-1", text: ATLAS.title });
    this.begin = h("p", { class: "hx-atlas-begin" });
    this.note = h("p", { class: "hx-atlas-note", role: "alert", hidden: true });
    this.count = h("p", { class: "hx-atlas-count", role: "status" });
    this.body = h("tbody", {});
    this.el = h(
      "div",
      { class: "hx-atlas-all" },
      h(
        "header",
        { class: "hx-atlas-top" },
        h("div", {}, this.title, h("p", { text: ATLAS.lead }), this.begin),
        legend(),
      ),
      this.bar.el,
      this.note,
      this.count,
      h(
        "table",
        { class: "hx-atlas-map" },
        h("caption", { class: "hx-sr", text: ATLAS.map }),
        h("thead", {}, h("tr", {}, h("td", {}), ...Object.values(HOW).map((one) => headOf(one, "col")))),
        this.body,
      ),
    );
  }

  /** @param {System[]} systems in their order */
  list(systems) {
    this.systems = systems;
    this.links = new Map(systems.map((system) => [system.id, chipOf(system, this.onOpen)]));
    const first = BEGIN.flatMap((id) => systems.find((one) => one.id === id) ?? []);
    this.begin.replaceChildren(
      ATLAS.begin,
      ...first.map(({ id, name }) => leadsTo(h("a", { text: name }), id, this.onOpen)),
    );
    this.body.replaceChildren(
      ...ROWS.map((who) =>
        h(
          "tr",
          { "data-who": who },
          headOf(WHO[who], "row"),
          ...COLUMNS.map((how) =>
            this._cell(
              systems.filter((s) => s.who_drafts === who && s.how_judged === how),
              how,
            ),
          ),
        ),
      ),
    );
  }

  /** @param {string} text what is wrong with the address; "" for nothing */
  tell(text) {
    say(this.note, text);
    this.note.hidden = !text;
  }

  /** Shows those that a filter leaves. @param {Filter} filter */
  filter(filter) {
    this.bar.set(filter);
    const left = new Set(this.systems.filter((system) => passes(system, filter)).map(({ id }) => id));
    for (const [id, link] of this.links) link.parentElement?.toggleAttribute("hidden", !left.has(id));
    for (const place of this.body.querySelectorAll(":is(td,tr)"))
      place.toggleAttribute("data-empty", !place.querySelector("li:not([hidden])"));
    const built = this.systems.filter((system) => left.has(system.id) && runsHere(system) === "true").length;
    say(this.count, left.size ? ATLAS.count(left.size, this.systems.length, built) : ATLAS.none);
  }

  /** @param {System[]} systems @param {string} how */
  _cell(systems, how) {
    return h(
      "td",
      {},
      h("span", { class: "hx-atlas-how", text: HOW[how].name, "aria-hidden": "true" }),
      h("ul", {}, ...systems.map((system) => h("li", {}, /** @type {HTMLElement} */ (this.links.get(system.id))))),
    );
  }
}

/** @param {{name: string, about: string}} one @param {"col"|"row"} scope */
const headOf = ({ name, about }, scope) => h("th", { scope }, h("b", { text: name }), h("span", { text: about }));

function legend() {
  const key = (/** @type {string} */ built, /** @type {string} */ text) =>
    h("li", {}, h("span", { class: "hx-atlas-key", "data-built": built, "aria-hidden": "true" }), text);
  return h(
    "ul",
    { class: "hx-atlas-legend" },
    h("li", { text: ATLAS.legend.sign }),
    key("true", ATLAS.legend.runs),
    key("first", ATLAS.legend.first),
    key("false", ATLAS.legend.not),
    h("li", {}, h("span", { class: "hx-atlas-lossy", "aria-hidden": "true", text: "\u2248" }), ATLAS.legend.lossy),
  );
}

// Which systems the map shows: a word, who drafts, how drafts are judged, exact or not, and whether they run here.

/** @param {{onChange: (filter: Filter) => void}} ctx */
function filterBar({ onChange }) {
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
