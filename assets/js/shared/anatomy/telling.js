/** An event of a round in a sentence, and in a few signs. */

import { badge } from "../text/card/card.js";
import { h } from "../kit/dom.js";
import { originOf } from "../levels/kinds.js";
import { ranText } from "../run/ran.js";
import { timeOf } from "../levels/stated.js";
import { EVENT, QUOTED } from "../../../text/en/anatomy.js";

/**
 * @param {any} model @param {import("./round.js").Round} round @param {import("./round.js").Happening|null} event
 * @returns {string}
 */
export function sentence(model, round, event) {
  if (!event) return EVENT.begins;
  if (event.kind === "commit") return EVENT.commits(round.tokens.length);
  if (event.kind === "plan") return EVENT.plan;
  const { call } = event;
  const { tag, kind } = model.levels[event.level];
  if (!call) return EVENT.none(tag);
  const said = (/** @type {import("./round.js").Tile[]} */ tiles) =>
    tiles.map((x) => QUOTED.token(model.pieceText(x.record.id) || "\u2205"));
  if (call.segment.kind === "draft")
    return EVENT.drafts(
      tag,
      said(call.tiles),
      call.tiles.some((x) => originOf(kind, x.record.source)),
    );
  const of = (/** @type {string} */ outcome) => call.tiles.filter((x) => x.judgement?.outcome === outcome);
  const own = call.tiles.find((x) => x.what === "own");
  return EVENT.verifies(tag, {
    below: "",
    kept: said(of("accepted")),
    rejected: said(of("rejected")),
    rest: of("unjudged").length,
    own: own ? said([own])[0] : null,
    how: own?.record.how ?? "",
  });
}

/**
 * "Q 5→3 +1": who, how many came in and went up, and whether one of its own was added.
 * @param {any} model @param {import("./round.js").Round} round @param {import("./round.js").Happening} event
 * @returns {Node[]}
 */
export function short(model, round, event) {
  if (event.kind === "commit") return [h("span", { text: `\u2713 ${round.tokens.length}` })];
  if (event.kind === "plan" || !event.call) return [h("span", { text: "\u2026" })];
  const { call } = event;
  const level = badge(model.levels[event.level]);
  if (call.segment.kind === "draft") return [level, h("span", { text: `${call.tiles.length}` })];
  const judged = call.tiles.filter((x) => x.what === "check");
  const kept = judged.filter((x) => x.judgement?.outcome === "accepted").length;
  const own = call.tiles.some((x) => x.what === "own") ? "+1" : "";
  const text = judged.length ? `${judged.length}\u2192${kept}${own}` : own || "0";
  const said = h("span", { text });
  if (call.segment.rejected) said.className = "hx-an-reject";
  return [level, said];
}

/** What a call cost: its time, its rows, and where a model is shared the layers that it ran.
 *  @param {import("../run/trace.js").TraceModel} model @param {import("../run/trace.js").Segment} segment */
export function work(model, segment) {
  const rows = segment.rows ? EVENT.rows(segment.rows, segment.catchUp ?? 0, segment.probes ?? 0) : "";
  return [timeOf(model, segment), rows, ranText(segment)].filter(Boolean).join(", ");
}
