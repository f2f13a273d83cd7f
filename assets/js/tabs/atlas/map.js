/** The map: a row for each kind of drafter, a column for each way of judging, and in each cell its systems, each by
 *  its sign and name; on a phone a list. Above it what filters them. */

import { h, say } from "../../shared/kit/dom.js";
import { leadsTo, passes, runsHere, ALL, filters, exactly, says } from "./by-question.js";
import { ATLAS, BENCHMARKS, HOW, SYSTEM, WHO, FILTERS } from "../../../text/en/atlas.js";
import { svg } from "../../shared/kit/svg.js";
import { kindOf } from "../../shared/levels/kinds.js";
import { tokensOf, shapeOf } from "./shape.js";

/** @import {Filter, System} from "./by-question.js" */

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
    this.begin = h("p.hx-atlas-begin");
    this.note = h("p.hx-atlas-note", { role: "alert", hidden: true });
    this.count = h("p.hx-atlas-count", { role: "status" });
    this.body = h("tbody");
    this.benchmarks = BENCHMARKS.all.map((one) => ({ el: benchmark(one), text: Object.values(one).join(" ") }));
    this.measured = h("section.hx-atlas-benchmarks", [
      h("h2", BENCHMARKS.title),
      h("ul", [this.benchmarks.map(({ el }) => el)]),
    ]);
    this.el = h("div.hx-atlas-all", [
      h("header.hx-atlas-top", [h("div", [this.title, h("p", ATLAS.lead), this.begin]), legend()]),
      this.bar.el,
      this.note,
      this.count,
      h("table.hx-atlas-map", [
        h("caption.hx-sr", ATLAS.map),
        h("thead", h("tr", [h("td"), Object.values(HOW).map((one) => headOf(one, "col"))])),
        this.body,
      ]),
      this.measured,
    ]);
  }

  /** @param {System[]} systems in their order */
  list(systems) {
    this.systems = systems;
    this.links = new Map(systems.map((system) => [system.id, chipOf(system, this.onOpen)]));
    const first = BEGIN.flatMap((id) => systems.find((one) => one.id === id) ?? []);
    this.begin.replaceChildren(ATLAS.begin, ...first.map(({ id, name }) => leadsTo(h("a", name), id, this.onOpen)));
    this.body.replaceChildren(
      ...ROWS.map((who) =>
        h("tr", { "data-who": who }, [
          headOf(WHO[who], "row"),
          COLUMNS.map((how) =>
            this._cell(
              systems.filter((s) => s.who_drafts === who && s.how_judged === how),
              how,
            ),
          ),
        ]),
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
    for (const { el, text } of this.benchmarks) el.hidden = !says(text, filter.find);
    this.measured.hidden = this.benchmarks.every(({ el }) => el.hidden);
    const built = this.systems.filter((system) => left.has(system.id) && runsHere(system) === "true").length;
    say(this.count, left.size ? ATLAS.count(left.size, this.systems.length, built) : ATLAS.none);
  }

  /** @param {System[]} systems @param {string} how */
  _cell(systems, how) {
    return h("td", [
      h("span.hx-atlas-how", { text: HOW[how].name, "aria-hidden": "true" }),
      h("ul", [systems.map((system) => h("li", /** @type {HTMLElement} */ (this.links.get(system.id))))]),
    ]);
  }
}

/** @param {(typeof BENCHMARKS.all)[0]} one */
const benchmark = ({ name, paper, about }) => h("li", [h("b", name), " ", paperLink(paper), h("p", about)]);

/** @param {string} paper its number on arXiv */
export const paperLink = (paper) =>
  h("a", { href: `https://arxiv.org/abs/${paper}`, target: "_blank", rel: "noopener", text: SYSTEM.paper(paper) });

/** @param {{name: string, about: string}} one @param {"col"|"row"} scope */
const headOf = ({ name, about }, scope) => h("th", { scope }, [h("b", name), h("span", about)]);

function legend() {
  const key = (/** @type {string} */ built, /** @type {string} */ text) =>
    h("li", [h("span.hx-atlas-key", { "data-built": built, "aria-hidden": "true" }), text]);
  return h("ul.hx-atlas-legend", [
    h("li", ATLAS.legend.sign),
    key("true", ATLAS.legend.runs),
    key("first", ATLAS.legend.first),
    key("false", ATLAS.legend.not),
    h("li", [h("span.hx-atlas-lossy", { "aria-hidden": "true", text: "\u2248" }), ATLAS.legend.lossy]),
  ]);
}

// Which systems the map shows: a word, who drafts, how drafts are judged, exact or not, and whether they run here.

/** @param {{onChange: (filter: Filter) => void}} ctx */
function filterBar({ onChange }) {
  const find = h("input.hx-atlas-find", {
    ...{ type: "search", placeholder: FILTERS.find, "aria-label": FILTERS.find, maxlength: "60" },
    oninput: () => changed(),
  });
  const picker = (/** @type {string} */ label, /** @type {string} */ any, /** @type {[string, string][]} */ options) =>
    h("select.hx-select", { "aria-label": label, onchange: () => changed() }, [
      h("option", { value: "", text: any }),
      options.map(([value, text]) => h("option", { value, text })),
    ]);
  const named = (/** @type {Record<string, {name: string}>} */ all) =>
    Object.entries(all).map(([value, { name }]) => /** @type {[string, string]} */ ([value, name]));
  const who = picker(FILTERS.who, FILTERS.anyWho, named(WHO));
  const how = picker(FILTERS.how, FILTERS.anyHow, named(HOW));
  const exact = picker(FILTERS.exact, FILTERS.anyExact, Object.entries(FILTERS.exactly));
  const here = h("input", { type: "checkbox", onchange: () => changed() });
  const clear = h("button.hx-quiet", {
    text: FILTERS.clear,
    hidden: true,
    onclick: () => {
      set(ALL);
      onChange(ALL);
      find.focus();
    },
  });
  const el = h("div.hx-atlas-filters", { role: "search", "aria-label": FILTERS.label }, [
    [find, who, how, exact],
    h("label.hx-tick", [here, FILTERS.here]),
    clear,
  ]);

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

// A system by its sign and name, which lead to its card: on the map, and among a card's neighbours.

/** @param {System} system @param {(id: string) => void} onOpen @returns {HTMLElement} */
export function chipOf(system, onOpen) {
  const built = runsHere(system);
  const chip = h("a.hx-atlas-one", { "data-tip": system.idea, "data-built": built }, [
    signOf(system),
    h("span.hx-atlas-name", system.name),
    exactly(system) === "no" && lossy(),
    built === "true" ? null : h("span.hx-sr", `, ${built === "first" ? ATLAS.legend.first : ATLAS.legend.not}`),
  ]);
  return leadsTo(chip, system.id, onOpen);
}

/** The mark of a system whose text may differ. */
const lossy = () =>
  h("span.hx-atlas-lossy", [
    h("span", { "aria-hidden": "true", text: "\u2248" }),
    h("span.hx-sr", `, ${ATLAS.legend.lossy}`),
  ]);

// A system's sign on the map: its floors as bars, what the top one judges as dots; decoration beside its name.

const [WIDE, HIGH] = [44, 26];
const MOST = { line: 3, x: 3 }; // of dots, counted from 0

/** @param {System} system */
function signOf(system) {
  const { floors, lanes } = shapeOf(system.shape);
  const el = svg("svg.hx-sign", { viewBox: `0 0 ${WIDE} ${HIGH}`, "aria-hidden": "true" });
  const top = floors.length - 1;
  const hue = (/** @type {number} */ i) => `var(--hue-${kindOf(floors[i].kind || "target").name})`;
  const tinted = (/** @type {SVGElement} */ one, /** @type {number} */ by) => one.style.setProperty("--hue", hue(by));
  const built = floors.map((floor, i) => ({ i, floor })).filter(({ floor }) => floor.kind);
  const high = Math.min(8, HIGH / built.length);
  built.forEach(({ i }, nth) => {
    const y = HIGH - (nth + 1) * high + 0.5 - (HIGH - built.length * high) / 2;
    tinted(svg("rect.hx-sign-floor", { x: 1, y, width: 13, height: high - 1.5, rx: 1.5 }, el), i);
  });
  if (lanes) {
    const rows = lanes === "free" && floors.length > 2 ? [0, 1, 2] : [0, 1];
    for (const row of rows) {
      const free = lanes === "free"; // the drafter's steps are short, and nobody waits
      const wide = free && row ? 6 : 9;
      for (let x = 19 + (free && !row ? 3 : 0); x + wide <= WIDE; x += wide + 2)
        tinted(
          svg(
            "rect.hx-sign-dot",
            { x, y: 6 + (row * 16) / rows.length, width: wide, height: 12 / rows.length, rx: 1 },
            el,
          ),
          top - row,
        );
    }
    return el;
  }
  const judged = floors[top - 1];
  const tokens = judged
    ? tokensOf(floors, top - 1, false).filter(({ x, line }) => x <= MOST.x && line <= MOST.line)
    : [];
  const lines = Math.max(0, ...tokens.map(({ line }) => line)) + 1;
  const y = (/** @type {number} */ line) => HIGH / 2 + (line - (lines - 1) / 2) * 6.4;
  for (const { x, line, by } of tokens) {
    const place = { x: 18.5 + x * 6.4, y: y(line) - 2.3, width: 4.6, height: 4.6 };
    const round = judged.hand?.form === "cells" ? 0.5 : 2.3;
    tinted(svg("rect.hx-sign-dot", { ...place, rx: round }, el), by);
  }
  if (judged?.hand?.form === "block")
    svg("rect.hx-sign-block", { x: 16, y: HIGH / 2 - 5, width: 27, height: 10, rx: 3 }, el);
  return el;
}
