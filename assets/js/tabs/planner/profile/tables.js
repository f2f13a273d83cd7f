/** The profile as tables whose every number can be changed. Changed cells are marked; a table goes back to measured. */

import { h } from "../../../shared/kit/dom.js";
import { get, same, set, costAt, draftsOnly, rowCounts } from "./profile.js";
import { TABLES } from "../../../../text/en/experts.js";
import { levelHead } from "../../../shared/levels/badge.js";
import { rounded } from "../../../../text/numbers.js";

/** @import {Look} from "../../../shared/levels/kinds.js" @import {Profile, ProfileLevel} from "./profile.js" */

/** @typedef {"levels"|"acceptance"|"edge_cost_ms"} Part */
/** @typedef {{fixed: boolean, onEdit: (part: string) => void, onReset: (part: string) => void}} Context `part`: a Part */

/** @param {Context} ctx */
export function profileTables(ctx) {
  const costs = panel(TABLES.costs, "levels", TABLES.costsText, ctx);
  const accepts = panel(TABLES.accepts, "acceptance", TABLES.acceptsText, ctx);
  const edges = panel(TABLES.edges, "edge_cost_ms", TABLES.edgesText, ctx);
  const el = h("div.hx-plan-tables", [costs.el, accepts.el, edges.el]);
  /** @type {Shown} */ let shown;
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
  const back = h("button.hx-quiet.hx-plan-reset", { onclick: () => ctx.onReset(part) });
  const body = h("div.hx-figure-scroll.hx-plan-scroll");
  const refused = h("p.hx-plan-fault", { role: "alert", hidden: true });
  const told = h("p.hx-plan-text", text);
  const el = h("section.hx-panel", { "aria-label": title }, [
    h("div.hx-plan-head", [h("h2.hx-plan-h", title), back]),
    told,
    refused,
    body,
  ]);
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

// What two levels have between them: how often one accepts the other's tokens, and where a pass costs more or less.

/** @param {Shown} shown @param {Edit} edit */
function acceptanceTable({ profile, measured, styles }, edit) {
  const top = profile.levels.length - 1;
  const judges = [...profile.levels.keys()].filter((j) => j > 0 && !draftsOnly(profile.levels[j]));
  const rows = profile.levels.slice(0, top).map((level, i) =>
    h("tr", [
      levelHead(styles[i].name, styles[i]),
      judges.map((j) => {
        if (j <= i) return h("td.hx-plan-none");
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
    ]),
  );
  const head = h("tr", [
    h("td.hx-plan-corner", TABLES.corner),
    judges.map((j) => levelHead(styles[j].name, styles[j], "col")),
  ]);
  return h("table", [h("thead", head), h("tbody", rows)]);
}

/** @param {Shown} shown @param {string[]} pairs @param {Edit} edit */
function edgeTable({ profile: { edge_cost_ms: known = {} }, measured }, pairs, edit) {
  const counts = [...new Set(pairs.flatMap((pair) => Object.keys(known[pair]).map(Number)))].sort((a, b) => a - b);
  const rows = pairs.map((pair) => {
    const costs = known[pair];
    return h("tr", [
      h("th", { scope: "row", text: pair.replace("->", " → ") }),
      counts.map((n) =>
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
    ]);
  });
  return grid([TABLES.pair, ...counts.map(TABLES.rows)], rows);
}

// What each level costs, as a table whose numbers can be changed.

const SHOWN_DEPTHS = 3; // of what lies side by side; the tip has the others

/** @param {Shown} shown @param {Edit} edit */
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
      cells.push(said.length ? h("td.hx-plan-beside", { "data-tip": tip, text: short }) : h("td"));
    }
    return h("tr", [levelHead(styles[i].name, styles[i]), cells]);
  });
  const engine = h("tr", [
    h("th.hx-plan-engine", { scope: "row", text: TABLES.engine }),
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
  ]);
  return grid(head, [...rows, engine]);
}

/** @param {string[]} head @param {Node[]} rows */
export function grid(head, rows) {
  return h("table", [h("thead", [h("tr", [head.map((text) => h("th", { scope: "col", text }))])]), h("tbody", rows)]);
}

// A cell of a table whose number can be changed.

const PROBABILITY = { low: 0, high: 1, what: TABLES.probability, step: "any" };
const COST = { low: 1e-6, high: 1e6, what: TABLES.cost, step: "any" };
const TIME = { low: 0, high: 1e6, what: TABLES.time, step: "any" };

/** @typedef {{path: (string|number)[], value: number|undefined, hint?: string, kind: typeof PROBABILITY, label: string, range?: string|null,
 *    part: string, optional?: boolean, shade?: number|null}} Cell kind: what may be written
 *  @typedef {(path: (string|number)[], value: number|undefined, part: string) => void} Edit
 *  @typedef {{profile: Profile, measured: Profile, styles: Look[]}} Shown */

/** A cell with an input. A number that cannot be used is said beside the field and changes nothing; the text stays.
 *  @param {Cell} cell @param {Edit} edit */
function numberCell({ path, value, hint = "", kind, label, range = "", part, optional = false, shade = null }, edit) {
  const input = h("input.hx-input.hx-plan-number", {
    type: "number",
    inputmode: "decimal",
    min: kind.low === 1e-6 ? 0 : kind.low,
    max: kind.high === 1 ? 1 : null,
    step: kind.step,
    value: value === undefined ? "" : short(value),
    placeholder: hint,
    "aria-label": label,
  });
  const cell = h("td.hx-plan-cell", [
    input,
    range && h("span.hx-plan-range", { text: range, "aria-label": TABLES.intervalOf(range) }),
  ]);
  cell.dataset.path = JSON.stringify(path);
  if (shade !== null) cell.style.setProperty("--shade", `${Math.round(shade * 100)}%`);
  input.addEventListener("input", () => {
    const text = input.value.trim();
    const number = Number(text);
    const empty = text === "" && !input.validity.badInput;
    const fits = empty ? optional : Number.isFinite(number) && text !== "" && number >= kind.low && number <= kind.high;
    input.setAttribute("aria-invalid", String(!fits));
    const fault = fits ? "" : empty ? TABLES.write(label, kind.what) : TABLES.isNot(label, text, kind.what);
    cell.dispatchEvent(new CustomEvent("hx:fault", { bubbles: true, detail: fault }));
    if (!fits) return;
    if (shade !== null) cell.style.setProperty("--shade", `${Math.round(number * 100)}%`);
    edit(path, empty ? undefined : number, part);
  });
  return cell;
}

const short = (/** @type {number} */ value) => String(Number(value.toPrecision(4)));
