/** The profile as tables whose every number can be changed. Changed cells are marked; a table goes back to measured. */

import { h } from "../../../shared/kit/dom.js";
import { costTable } from "./cost-table.js";
import { acceptanceTable, edgeTable } from "./pair-tables.js";
import { get, same, set } from "./profile.js";
import { TABLES } from "../../../../text/en/planner.js";

/** @typedef {import("./profile.js").Profile} Profile @typedef {import("./profile.js").ProfileLevel} ProfileLevel */
/** @typedef {import("../../../shared/levels/kinds.js").Look} Look @typedef {"levels"|"acceptance"|"edge_cost_ms"} Part */
/** @typedef {{fixed: boolean, onEdit: (part: string) => void, onReset: (part: string) => void}} Context `part`: a Part */

/** @param {Context} ctx */
export function profileTables(ctx) {
  const costs = panel(TABLES.costs, "levels", TABLES.costsText, ctx);
  const accepts = panel(TABLES.accepts, "acceptance", TABLES.acceptsText, ctx);
  const edges = panel(TABLES.edges, "edge_cost_ms", TABLES.edgesText, ctx);
  const el = h("div", { class: "hx-plan-tables" }, costs.el, accepts.el, edges.el);
  /** @type {import("./number-cell.js").Shown} */ let shown;
  const panels = { levels: costs, acceptance: accepts, edge_cost_ms: edges };

  function show(/** @type {Profile} */ profile, /** @type {Profile} */ measured, /** @type {Look[]} */ styles) {
    shown = { profile, measured, styles };
    for (const box of Object.values(panels)) box.origin(measured.about?.simulated ? TABLES.assumed : TABLES.measured);
    accepts.tell(
      measured.interval?.some((row) => row?.some(Boolean)) ? TABLES.interval(TABLES.acceptsText) : TABLES.acceptsText,
    );
    costs.fill(costTable(shown, edit));
    accepts.fill(acceptanceTable(shown, edit));
    const pairs = Object.keys(profile.edge_cost_ms ?? {});
    edges.el.hidden = !pairs.length;
    edges.fill(pairs.length ? edgeTable(shown, pairs, edit) : null);
    if (ctx.fixed) for (const input of el.querySelectorAll("input")) input.readOnly = true;
    marks();
  }

  /** @param {(string|number)[]} path @param {number|undefined} value @param {string} part */
  function edit(path, value, part) {
    set(shown.profile, path, value);
    // Intervals belong to what was measured.
    if (path[2] === "cost_ms") delete shown.profile.levels[Number(path[1])].interval_ms;
    marks();
    ctx.onEdit(part);
  }

  function marks() {
    const { profile, measured } = shown;
    const held = (/** @type {Profile} */ { levels, round_ms, acceptance, by_width, by_rule, edge_cost_ms }) => ({
      levels: [bare(levels), round_ms],
      acceptance: [acceptance, by_width, by_rule],
      edge_cost_ms,
    });
    const [written, was] = [held(profile), held(measured)];
    for (const [part, box] of Object.entries(panels)) {
      const name = /** @type {Part} */ (part);
      box.changed(!same(written[name], was[name]));
    }
    for (const cell of /** @type {NodeListOf<HTMLElement>} */ (el.querySelectorAll("[data-path]"))) {
      const path = JSON.parse(cell.dataset.path ?? "");
      cell.dataset.edited = String(!same(get(profile, path), get(measured, path)));
    }
  }

  return { el, show };
}

const bare = (/** @type {ProfileLevel[]} */ levels) => levels.map(({ interval_ms: _, ...level }) => level);

/** @param {string} title @param {string} part @param {string} text @param {Context} ctx */
function panel(title, part, text, ctx) {
  const back = h("button", { type: "button", class: "hx-quiet hx-plan-reset", onclick: () => ctx.onReset(part) });
  const body = h("div", { class: "hx-figure-scroll hx-plan-scroll" });
  const refused = h("p", { class: "hx-plan-fault", role: "alert", hidden: true });
  const told = h("p", { class: "hx-plan-text", text });
  const el = h(
    "section",
    { class: "hx-panel", "aria-label": title },
    h("div", { class: "hx-plan-head" }, h("h2", { class: "hx-plan-h", text: title }), back),
    told,
    refused,
    body,
  );
  el.addEventListener("hx:fault", (/** @type {CustomEventInit<string>} */ { detail = "" }) => {
    refused.textContent = detail;
    refused.hidden = !detail;
  });
  const origin = (/** @type {string} */ word) => {
    back.textContent = TABLES.reset(word);
    back.setAttribute("aria-label", TABLES.resetOf(title, word));
  };
  return {
    el,
    fill: (/** @type {HTMLElement|null} */ table) => body.replaceChildren(...(table ? [table] : [])),
    changed: (/** @type {boolean} */ is) => {
      back.disabled = !is;
      back.hidden = ctx.fixed;
    },
    origin,
    tell: (/** @type {string} */ words) => {
      told.textContent = words;
    },
  };
}
