/** What two levels have between them: how often one accepts the other's tokens, and where a pass costs more or less. */

import { h } from "../../../shared/kit/dom.js";
import { levelHead } from "../../../shared/levels/badge.js";
import { rounded } from "../../../../text/numbers.js";
import { grid } from "./cost-table.js";
import { COST, PROBABILITY, numberCell } from "./number-cell.js";
import { costAt, draftsOnly } from "./profile.js";
import { TABLES } from "../../../../text/en/planner.js";

/** @param {import("./number-cell.js").Shown} shown @param {import("./number-cell.js").Edit} edit */
export function acceptanceTable({ profile, measured, styles }, edit) {
  const top = profile.levels.length - 1;
  const judges = [...profile.levels.keys()].filter((j) => j > 0 && !draftsOnly(profile.levels[j]));
  const rows = profile.levels.slice(0, top).map((level, i) =>
    h(
      "tr",
      {},
      levelHead(styles[i].name, styles[i]),
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
    ...judges.map((j) => levelHead(styles[j].name, styles[j], "col")),
  );
  return h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows));
}

/** @param {import("./number-cell.js").Shown} shown @param {string[]} pairs @param {import("./number-cell.js").Edit} edit */
export function edgeTable({ profile: { edge_cost_ms: known = {} }, measured }, pairs, edit) {
  const counts = [...new Set(pairs.flatMap((pair) => Object.keys(known[pair]).map(Number)))].sort((a, b) => a - b);
  const rows = pairs.map((pair) => {
    const costs = known[pair];
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
            optional: Object.keys(measured.edge_cost_ms?.[pair] ?? {}).length > 1,
          },
          edit,
        ),
      ),
    );
  });
  return grid([TABLES.pair, ...counts.map(TABLES.rows)], rows);
}
