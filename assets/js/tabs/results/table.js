/** The stacks and the other programs of the chosen benchmark, a group of columns for it and for each other one that has figures
 *  of them. */

import { h } from "../../shared/kit/dom.js";
import { stackNames } from "../../shared/levels/stack-names.js";
import { peersOf, stacksOf, sameText } from "./columns.js";
import { ofBench, stated } from "../../shared/levels/stated.js";
import { ratio, rounded } from "../../../text/numbers.js";
import { TABLE } from "../../../text/en/results.js";
import { levelBadge, stylesOf } from "../../shared/levels/badge.js";

/** @import {Column} from "./columns.js" */

const FIGURES = TABLE.figures;

/** @param {Column} chosen
 *  @param {Column[]} all of its preset
 *  @param {{what: string}[]} missing machines without a benchmark
 *  @param {{name: string, default_stack?: string, preset_stack?: string}} preset as the engine has them now; older benchmarks had others */
export function comparison(chosen, all, missing, preset) {
  const stacks = stacksOf(chosen);
  const drafting = chosen.stacks.filter((row) => row.stack !== row.plain);
  const beside = all.filter((one) => one !== chosen && drafting.some(({ stack }) => one.rows.has(stack)));
  const columns = [chosen, ...beside];
  const names = stackNames(stacks);
  const peers = peersOf(chosen).filter((name) => columns.some((one) => one.peers.get(name)?.tokens_per_s != null));
  const high = stacks.length + (peers.length ? peers.length + 1 : 0);
  const width = 1 + FIGURES.length * columns.length;
  const table = h("table.hx-res-table", [
    h("caption.hx-sr", TABLE.caption),
    h("thead", [
      h("tr", [
        h("th.hx-res-name", { scope: "col", rowspan: "2", text: TABLE.stack }),
        columns.map((one) => groupHead(one)),
        missing.map(({ what }) => h("th.hx-res-group.hx-res-missing", { scope: "col", rowspan: "2" }, h("b", what))),
      ]),
      h("tr", [
        columns.flatMap((one) =>
          FIGURES.map(([text, tip], i) =>
            h("th", { scope: "col", class: edge(i, one), tabindex: "0", "data-tip": tip, text }),
          ),
        ),
      ]),
    ]),
    h("tbody", [
      stacks.map((stack, i) =>
        h("tr", { "data-stack": stack }, [
          stackHead(stack, names.get(stack) ?? stack, preset.name, isDefault(preset, stack)),
          columns.flatMap((one) => stackCells(one, stack)),
          i ? [] : missing.map(() => notMeasured(high)),
        ]),
      ),
      peers.length > 0 &&
        h("tr", h("th.hx-res-sub", { scope: "colgroup", colspan: String(width), text: TABLE.others })),
      peers.map((name) =>
        h("tr", { "data-peer": name }, [
          h("th.hx-res-name", { scope: "row", text: name }),
          columns.flatMap((one) => peerCells(one, name)),
        ]),
      ),
    ]),
  ]);
  return h("div.hx-panel.hx-res-scroll", { tabindex: "0", role: "group", "aria-label": TABLE.label }, table);
}

/** @param {number} i @param {Column} one */
const edge = (i, one) => [i ? "" : "hx-res-edge", one.now ? "hx-res-now" : ""].filter(Boolean).join(" ") || null;

function groupHead(/** @type {Column} */ one) {
  const { stacks } = one;
  const { about } = one.results;
  const prompts = one.early ? one.said : TABLE.prompts(stacks[0].prompts);
  return h("th.hx-res-group", { scope: "colgroup", colspan: String(FIGURES.length), class: edge(0, one) }, [
    h("b", one.name),
    h("span", [about.device, about.dtype, one.when, prompts].filter(Boolean).join(" · ")),
    one.now && h("span.hx-res-caution", TABLE.few),
  ]);
}

function stackCells(/** @type {Column} */ one, /** @type {string} */ stack) {
  const row = one.rows.get(stack);
  /** @param {number} i @param {...(Node|string)} what */
  const cell = (i, ...what) => h("td", { class: edge(i, one) }, what);
  if (!row) return FIGURES.map((_, i) => cell(i, i ? "" : "–"));
  const best = one.stacks.every((other) => other.plain !== row.plain || other.tokens_per_s <= row.tokens_per_s);
  const [low, high] = row.interval;
  const of = ofBench(one.results.about, stack);
  return [
    cell(
      0,
      h(best ? "b" : "span", {
        class: best ? "hx-res-best" : null,
        text: stated("tokens_per_s", of, rounded(row.tokens_per_s)),
      }),
    ),
    cell(
      1,
      h("span.hx-res-gain", `${stated("speed_up", of, ratio(row.speed_up))}×`),
      h("small", [
        row.stack === row.plain
          ? TABLE.plain
          : TABLE.interval(stated("low", of, ratio(low)), stated("high", of, ratio(high))),
      ]),
    ),
    cell(2, stated("per_forward", of, ratio(row.accepted_per_pass))),
    cell(
      3,
      h("span", { class: row.equal !== null && row.equal < 1 ? "hx-res-unequal" : null, text: sameText(row, one) }),
    ),
  ];
}

function peerCells(/** @type {Column} */ one, /** @type {string} */ name) {
  const peer = one.peers.get(name);
  const rest = (/** @type {string[]} */ ...what) =>
    h("td", { colspan: String(FIGURES.length - 1), class: one.now ? "hx-res-why hx-res-now" : "hx-res-why" }, what);
  if (!peer) return [h("td", { class: edge(0, one), text: "–" }), rest(one.now ? TABLE.notInSet : "")];
  if (peer.tokens_per_s === null) return [h("td", { class: edge(0, one), text: "–" }), rest(peer.why || TABLE.notRun)];
  return [
    h("td", { class: edge(0, one), text: rounded(peer.tokens_per_s) }),
    rest(TABLE.peer((peer.beside_plain ?? 0).toFixed(2), Math.round(100 * (peer.same_tokens ?? 0)), peer.why)),
  ];
}

const notMeasured = (/** @type {number} */ high) =>
  h("td.hx-res-missing.hx-res-edge", { rowspan: String(high) }, h("span", TABLE.notMeasured));

// A stack as the head of a row: its levels' letters, what it is called with its code below, and the way to the first
// screen with it.

/** Whether a stack is a preset's default: as it is planned for this machine, or as the preset has it, which is what tables
 *  of other machines hold. @param {{default_stack?: string, preset_stack?: string}} preset @param {string} stack */
export const isDefault = (preset, stack) => [preset.default_stack, preset.preset_stack].includes(stack);

/** @param {string} stack @param {string} name among the stacks that stand beside it
 *  @param {string} preset @param {boolean} usual whether it is the preset's default */
export function stackHead(stack, name, preset, usual) {
  const parts = stack.split(",");
  const styles = [
    ...stylesOf(parts.map((part, i) => ({ name: `${i} ${part}`, kind: part.split(/[@:]/)[0] }))).values(),
  ];
  const query = new URLSearchParams({ preset, stack });
  const code = h("code.hx-stack-code", [parts.flatMap((part, i) => (i ? [",", h("wbr"), part] : [part]))]);
  return h("th.hx-res-name", { scope: "row" }, [
    h(
      "a.hx-res-stack",
      {
        href: `?${query}`,
        "data-tip": TABLE.openTip,
        onclick: (/** @type {MouseEvent} */ event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return; // a tab or window of its own
          event.preventDefault();
          document.dispatchEvent(new CustomEvent("hx:use-stack", { detail: { stack, preset } }));
        },
      },
      [
        h("span.hx-res-badges", { "aria-hidden": "true" }, styles.map(levelBadge)),
        h("span.hx-res-called", name),
        h("span.hx-sr", TABLE.open),
      ],
    ),
    usual && h("span.hx-res-tag", TABLE.usual),
    name === stack ? null : code,
  ]);
}
