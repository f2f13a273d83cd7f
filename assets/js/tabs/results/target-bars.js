/** The one chart: a table whose rows are bars, a part for each target, all on one axis. A picture and its figures cannot
 *  differ: they are one table. */

import { h } from "../../shared/kit/dom.js";
import { stackNames } from "../../shared/levels/stack-names.js";
import { ofBench, stated } from "../../shared/levels/stated.js";
import { ratio, rounded } from "../../../text/numbers.js";
import { endOf, groupsOf, targetOf, peerText, sameText } from "./columns.js";
import { isDefault, stackHead } from "./table.js";
import { BARS, PEERS } from "../../../text/en/results.js";

/** @import {Column, Group, Line, Peer} from "./columns.js" */

/** @param {Column} column
 *  @param {{name: string, title: string, default_stack?: string, preset_stack?: string}} preset */
export function barsPanel(column, preset) {
  const groups = groupsOf(column);
  const names = stackNames(column.stacks.map(({ stack }) => stack));
  const end = endOf(groups);
  const [first] = groups;
  const programs = [...column.peers.values()];
  return h("section.hx-panel.hx-res-chart", { "aria-label": BARS.label(preset.title, column.name) }, [
    h("h2.hx-plan-h", BARS.title),
    h("p.hx-plan-text", BARS.text),
    h("table.hx-res-bars", [
      h("caption.hx-sr", BARS.label(preset.title, column.name)),
      h("thead", [h("tr", [BARS.columns.map((text) => (text ? h("th", { scope: "col", text }) : h("td")))])]),
      groups.map((group) => part(group, { first: group === first, column, preset, end, names })),
    ]),
    programs.length > 0 && h("dl.hx-res-programs", programs.flatMap(explained)),
  ]);
}

/** @typedef {{first: boolean, column: Column, preset: any, end: number, names: Map<string, string>}} Of */

/** @param {Group} group @param {Of} of */
function part({ plain, target, lines }, of) {
  const { first, column } = of;
  const own = targetOf("target", column);
  const about = plain === null ? BARS.other(target) : first ? BARS.over(target) : BARS.another(target, own);
  return h("tbody", { "data-target": plain ?? "other" }, [
    h("tr", [
      h("th.hx-res-part", { scope: "rowgroup", colspan: String(BARS.columns.length) }, [
        h("b", plain === null ? BARS.others : BARS.target(target)),
        h("span", about),
      ]),
    ]),
    lines.map((line) => row(line, of)),
  ]);
}

function row(/** @type {Line} */ line, /** @type {Of} */ { column, preset, end, names }) {
  const { name, gain, interval, row: own, peer } = line;
  const of = (/** @type {string} */ what, /** @type {string} */ text) =>
    own ? stated(what, ofBench(column.results.about, own.stack), text) : text;
  const head = own
    ? stackHead(name, names.get(name) ?? name, preset.name, isDefault(preset, name))
    : h("th.hx-res-name", { scope: "row", text: name });
  return h("tr", { [own ? "data-stack" : "data-peer"]: name }, [
    head,
    h("td.hx-res-bar-cell", bar(gain, interval, end, own ? "" : "peer", own !== null && own.stack === own.plain)),
    h("td.hx-res-figure", [
      h("b", `${of("speed_up", ratio(gain))}×`),
      interval && h("small", BARS.interval(of("low", ratio(interval[0])), of("high", ratio(interval[1])))),
    ]),
    h("td.hx-res-figure", { "data-of": BARS.columns[3], text: of("tokens_per_s", rounded(line.rate)) }),
    h("td.hx-res-figure", {
      "data-of": BARS.columns[4],
      text: own ? of("per_forward", ratio(own.accepted_per_pass)) : "",
    }),
    h("td.hx-res-same", {
      "data-of": BARS.columns[5],
      text: own ? sameText(own, column) : peer ? peerText(peer, column) : "",
    }),
  ]);
}

/** A bar from nothing to the gain, its interval, and the line of plain decoding; the figures stand beside it.
 *  @param {number} gain @param {[number, number]|null} interval @param {number} end @param {string} kind
 *  @param {boolean} plain */
function bar(gain, interval, end, kind, plain) {
  const at = (/** @type {number} */ x) => `${(100 * Math.max(0, x)) / end}%`;
  return h("div.hx-res-track", { "aria-hidden": "true", style: { "--one": at(1) } }, [
    h("i.hx-res-fill", {
      "data-kind": plain ? "plain" : kind || (gain < 1 ? "slower" : "faster"),
      style: { width: at(gain) },
    }),
    interval &&
      h("i.hx-res-ends", { style: { "inset-inline-start": at(interval[0]), width: at(interval[1] - interval[0]) } }),
  ]);
}

/** A program in a sentence; of one that was not run, why. @param {Peer} peer */
function explained({ name, tokens_per_s, why }) {
  const words = [PEERS[name] ?? "", tokens_per_s === null ? BARS.notRun(why) : why].filter(Boolean).join(" ");
  return [h("dt", name), h("dd", words)];
}
