/** The profile as tables whose every number can be changed. Changed cells are marked; a table goes back to measured. */

import { h } from "../../../shared/kit/dom.js";
import { costTable } from "./cost-table.js";
import { acceptanceTable, edgeTable } from "./pair-tables.js";
import { get, same, set } from "./profile.js";
import { TABLES } from "../../../../text/en/planner.js";

/**
 * @param {{fixed: boolean, onEdit: (part: string) => void, onReset: (part: string) => void}} ctx `part`: "levels", "acceptance",
 *   "edge_cost_ms"
 * @returns {{el: HTMLElement, show: (profile, measured, styles) => void}}
 */
export function profileTables(ctx) {
  const costs = panel(TABLES.costs, "levels", TABLES.costsText, ctx);
  const accepts = panel(TABLES.accepts, "acceptance", TABLES.acceptsText, ctx);
  const edges = panel(TABLES.edges, "edge_cost_ms", TABLES.edgesText, ctx);
  const el = h("div", { class: "hx-plan-tables" }, costs.el, accepts.el, edges.el);
  /** @type {any} */ let shown = null;
  const panels = { levels: costs, acceptance: accepts, edge_cost_ms: edges };

  function show(profile, measured, styles) {
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

  function edit(path, value, part) {
    set(shown.profile, path, value);
    // Intervals belong to what was measured.
    if (path[2] === "cost_ms") delete shown.profile.levels[path[1]].interval_ms;
    marks();
    ctx.onEdit(part);
  }

  function marks() {
    const { profile, measured } = shown;
    for (const [part, box] of Object.entries(panels)) {
      const keys = {
        levels: ["levels", "round_ms"],
        acceptance: ["acceptance", "by_width", "by_rule"],
        edge_cost_ms: ["edge_cost_ms"],
      }[part];
      box.changed(
        keys.some(
          (key) =>
            !same(
              key === "levels" ? bare(profile[key]) : profile[key],
              key === "levels" ? bare(measured[key]) : measured[key],
            ),
        ),
      );
    }
    for (const cell of /** @type {NodeListOf<HTMLElement>} */ (el.querySelectorAll("[data-path]"))) {
      const path = JSON.parse(cell.dataset.path ?? "");
      cell.dataset.edited = String(!same(get(profile, path), get(measured, path)));
    }
  }

  return { el, show };
}

const bare = (levels) => levels.map(({ interval_ms: _, ...level }) => level);

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
  const origin = (word) => {
    back.textContent = TABLES.reset(word);
    back.setAttribute("aria-label", TABLES.resetOf(title, word));
  };
  return {
    el,
    fill: (table) => body.replaceChildren(...(table ? [table] : [])),
    changed: (is) => {
      back.disabled = !is;
      back.hidden = ctx.fixed;
    },
    origin,
    tell: (words) => {
      told.textContent = words;
    },
  };
}
