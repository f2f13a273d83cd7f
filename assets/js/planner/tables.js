/** The profile as tables whose every number can be changed. Changed cells are marked; a table goes back to measured. */

import { h } from "../kit/dom.js";
import { levelHead } from "../levels/badge.js";
import { COST, PROBABILITY, TIME, numberCell } from "./number-cell.js";
import { rounded } from "../words/numbers.js";
import { costAt, draftsOnly, get, rowCounts, same, set } from "./profile.js";
import { TABLES } from "../words/tabs/planner.js";

const SHOWN_DEPTHS = 3; // of what lies side by side; the tip has the others

/**
 * @param {{onEdit: (part: string) => void, onReset: (part: string) => void}} ctx `part`: "levels", "acceptance",
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
    for (const cell of el.querySelectorAll("[data-path]")) {
      const path = JSON.parse(cell.dataset.path);
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
  el.addEventListener("hx:fault", (event) => {
    refused.textContent = event.detail;
    refused.hidden = !event.detail;
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
    },
    origin,
    tell: (words) => {
      told.textContent = words;
    },
  };
}

function costTable({ profile, measured, styles }, edit) {
  const counts = rowCounts(measured);
  const lookups = profile.levels.some((level) => level.hit_rate !== undefined);
  const drafts = profile.levels.some((level) => level.draft_ms !== undefined);
  const several = profile.levels.some((level) => level.beside?.length);
  const head = [
    TABLES.level,
    ...counts.map(TABLES.rows),
    ...(drafts ? [TABLES.draft] : []),
    ...(lookups ? [TABLES.hits] : []),
    ...(several ? [TABLES.beside] : []),
  ];
  const rows = profile.levels.map((level, i) => {
    const cells = counts.map((n) => {
      const range = measured.levels[i].interval_ms?.[n];
      return numberCell(
        {
          path: ["levels", i, "cost_ms", String(n)],
          value: level.cost_ms[n],
          hint: rounded(costAt(level.cost_ms, n)),
          kind: COST,
          part: "levels",
          label: TABLES.costOf(level.name, n),
          range: range && `${rounded(range[0], 2)}–${rounded(range[1], 2)}`,
          optional: Object.keys(level.cost_ms).length > 1 || level.cost_ms[n] === undefined,
        },
        edit,
      );
    });
    if (drafts) {
      cells.push(
        level.draft_ms === undefined && i === profile.levels.length - 1
          ? h("td")
          : numberCell(
              {
                path: ["levels", i, "draft_ms"],
                value: level.draft_ms,
                hint: rounded(level.cost_ms["1"] ?? costAt(level.cost_ms, 1)),
                kind: COST,
                part: "levels",
                label: TABLES.draftOf(level.name),
                optional: true,
              },
              edit,
            ),
      );
    }
    if (lookups) {
      cells.push(
        level.hit_rate === undefined
          ? h("td")
          : numberCell(
              {
                path: ["levels", i, "hit_rate"],
                value: level.hit_rate,
                kind: PROBABILITY,
                part: "levels",
                label: TABLES.hitsOf(level.name),
              },
              edit,
            ),
      );
    }
    if (several) {
      const said = (level.beside ?? []).map((tokens) => tokens.toFixed(1));
      const short = said.length > SHOWN_DEPTHS ? `${said.slice(0, SHOWN_DEPTHS).join(" · ")} …` : said.join(" · ");
      const tip = TABLES.besideOf(level.name, said.join(" · "));
      cells.push(said.length ? h("td", { class: "hx-plan-beside", "data-tip": tip, text: short }) : h("td"));
    }
    return h("tr", {}, levelHead(level.name, styles[i]), ...cells);
  });
  const engine = h(
    "tr",
    {},
    h("th", { scope: "row", class: "hx-plan-engine", text: TABLES.engine }),
    numberCell(
      {
        path: ["round_ms"],
        value: profile.round_ms ?? 0,
        kind: TIME,
        part: "levels",
        label: TABLES.engineOf,
      },
      edit,
    ),
    h("td", { colspan: String(head.length - 2) }),
  );
  return grid(head, [...rows, engine]);
}

function acceptanceTable({ profile, measured, styles }, edit) {
  const top = profile.levels.length - 1;
  const judges = [...profile.levels.keys()].filter((j) => j > 0 && !draftsOnly(profile.levels[j]));
  const rows = profile.levels.slice(0, top).map((level, i) =>
    h(
      "tr",
      {},
      levelHead(level.name, styles[i]),
      ...judges.map((j) => {
        if (j <= i) return h("td", { class: "hx-plan-none" });
        const range = measured.interval?.[i]?.[j];
        return numberCell(
          {
            path: ["acceptance", i, j],
            value: profile.acceptance[i][j],
            kind: PROBABILITY,
            part: "acceptance",
            label: TABLES.acceptanceOf(level.name, profile.levels[j].name, level.hit_rate !== undefined),
            range: range && `${range[0].toFixed(2)}–${range[1].toFixed(2)}`,
            shade: profile.acceptance[i][j],
          },
          edit,
        );
      }),
    ),
  );
  const head = h(
    "tr",
    {},
    h("td", { class: "hx-plan-corner", text: TABLES.corner }),
    ...judges.map((j) => levelHead(profile.levels[j].name, styles[j], "col")),
  );
  return h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows));
}

function edgeTable({ profile, measured }, pairs, edit) {
  const counts = [...new Set(pairs.flatMap((pair) => Object.keys(profile.edge_cost_ms[pair]).map(Number)))].sort(
    (a, b) => a - b,
  );
  const rows = pairs.map((pair) => {
    const costs = profile.edge_cost_ms[pair];
    return h(
      "tr",
      {},
      h("th", { scope: "row", text: pair.replace("->", " → ") }),
      ...counts.map((n) =>
        numberCell(
          {
            path: ["edge_cost_ms", pair, String(n)],
            value: costs[n],
            hint: rounded(costAt(costs, n)),
            kind: COST,
            part: "edge_cost_ms",
            label: TABLES.costOf(TABLES.pairOf(pair), n),
            optional: Object.keys(measured.edge_cost_ms[pair]).length > 1,
          },
          edit,
        ),
      ),
    );
  });
  return grid([TABLES.pair, ...counts.map(TABLES.rows)], rows);
}

function grid(head, rows) {
  return h(
    "table",
    {},
    h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { scope: "col", text })))),
    h("tbody", {}, ...rows),
  );
}
