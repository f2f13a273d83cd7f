/** What each level costs, as a table whose numbers can be changed. */

import { h } from "../../../shared/kit/dom.js";
import { levelHead } from "../../../shared/levels/badge.js";
import { rounded } from "../../../../text/numbers.js";
import { COST, PROBABILITY, TIME, numberCell } from "./number-cell.js";
import { costAt, rowCounts } from "./profile.js";
import { TABLES } from "../../../../text/en/planner.js";

const SHOWN_DEPTHS = 3; // of what lies side by side; the tip has the others

/** @param {import("./number-cell.js").Shown} shown @param {import("./number-cell.js").Edit} edit */
export function costTable({ profile, measured, styles }, edit) {
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
    return h("tr", {}, levelHead(styles[i].name, styles[i]), ...cells);
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

/** @param {string[]} head @param {Node[]} rows */
export function grid(head, rows) {
  return h(
    "table",
    {},
    h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { scope: "col", text })))),
    h("tbody", {}, ...rows),
  );
}
