/** Drafts with a tokenizer of their own: two rulers over one line of text of a round, above it the draft's tokens,
 *  below it the target's for the same text, on one scale of bytes. */

import { bring } from "../index.js";
import { h } from "../../shared/kit/dom.js";
import { badge } from "../../shared/levels/badge.js";
import { stateOf } from "../../shared/anatomy/round.js";
import { SAY } from "../../../text/en/anatomy.js";
import { RULER } from "./words.js";
import { decode, hex, visible } from "../../shared/run/cells.js";

/** @import {Call, Round, Tile} from "../../shared/anatomy/round.js"
 *  @import {TraceModel} from "../../shared/run/trace.js" */

/** @typedef {{from: number, to: number, text: string}} Stretch columns of the line, and the text in them
 *  @typedef {Stretch & {state: string, serial: number}} Judged
 *  @typedef {{columns: string[], own: Stretch[], target: Judged[], shared: number[], rest: number}} Rulers columns: the text
 *    between two ends of tokens; shared: before which columns both begin a token; rest: bytes that did not go up */

/** The draft that a reader looks at: the event's, else the last one that has begun.
 *  @param {Round} round @param {Call|null} call @param {number} at */
export function draftAt(round, call, at) {
  if (call?.segment.own) return call;
  return round.calls.findLast((x) => x.segment.own && x.segment.t1 <= at) ?? null;
}

/** @param {TraceModel} model @param {Call} call @param {number} at a settled moment @returns {Rulers} */
export function rulers(model, call, at) {
  const pieces = call.tiles.map((tile) => [...model.piece(tile.record.id).bytes]);
  const bytes = pieces.flat();
  const lengths = (call.segment.own ?? []).filter((n) => n > 0);
  const mine = ends(lengths);
  const theirs = ends(pieces.map((x) => x.length));
  const all = [...new Set([0, ...mine, ...theirs])].sort((a, b) => a - b);
  const column = (/** @type {number} */ end) => all.indexOf(end);
  const columns = all.slice(1).map((end, i) => characters(bytes, all[i], end));
  const said = (/** @type {number} */ from, /** @type {number} */ to) => whole(bytes.slice(from, to)) || "\u2026";
  const own = mine.map((end, i) => ({
    from: column(mine[i - 1] ?? 0),
    to: column(end),
    text: said(mine[i - 1] ?? 0, end),
  }));
  const target = theirs.map((end, i) => ({
    from: column(theirs[i - 1] ?? 0),
    to: column(end),
    text: model.pieceText(call.tiles[i].record.id),
    state: judgedBy(model, call, call.tiles[i], at),
    serial: call.tiles[i].record.serial,
  }));
  const shared = all.filter((end) => end === 0 || (mine.includes(end) && theirs.includes(end))).map(column);
  return { columns, own, target, shared, rest: Math.max(0, (mine.at(-1) ?? 0) - bytes.length) };
}

/** @param {number[]} lengths */
function ends(lengths) {
  let sum = 0;
  return lengths.map((n) => (sum += n));
}

/** What became of a drafted token: what its verifier said, else what became of it in the round.
 *  @param {TraceModel} model @param {Call} call @param {Tile} tile @param {number} at */
function judgedBy(model, call, tile, at) {
  const said = tile.record.judgements.filter((j) => j.t <= at).at(-1)?.outcome;
  return said ?? stateOf(model, tile, call, at);
}

/** The characters that begin within a stretch of bytes. @param {number[]} bytes @param {number} from @param {number} to */
function characters(bytes, from, to) {
  const begins = (/** @type {number} */ i) => (bytes[i] & 0xc0) !== 0x80;
  let start = from;
  while (start < to && start < bytes.length && !begins(start)) start++;
  let end = Math.min(to, bytes.length);
  while (end < bytes.length && !begins(end)) end++;
  return start >= to || start >= bytes.length ? "" : whole(bytes.slice(start, end));
}

/** @param {number[]} bytes */
function whole(bytes) {
  const text = decode(Uint8Array.from(bytes));
  return text.includes("\ufffd") ? hex(Uint8Array.from(bytes)) : visible(text);
}

/** The picture; null where no draft of the round has tokens of its own.
 *  @param {TraceModel} model @param {Round} round @param {{at: number, call: Call|null}} view */
function rulersOf(model, round, { at, call }) {
  const draft = draftAt(round, call, at);
  if (!draft) return null;
  const found = rulers(model, draft, at);
  const level = model.levels[draft.segment.level];
  const above = model.levels[draft.segment.level + 1];
  const lineEl = h("div.hx-rule-line", {
    "aria-hidden": "true",
    style: { "--stretches": String(found.columns.length) },
  });
  for (const at of found.shared.slice(1)) lineEl.append(h("i.hx-rule-both", { style: place(at, at + 1, "1 / -1") }));
  for (const { from, to } of found.own)
    lineEl.append(h("span.hx-rule-own", { style: { ...place(from, to, "1"), "--hue": level.hue } }));
  found.columns.forEach((text, i) =>
    lineEl.append(h("span.hx-rule-text", { text: text || "\u22ef", style: place(i, i + 1, "2") })),
  );
  for (const { from, to, state } of found.target) {
    const mark = MARK[state] ?? "";
    const el = h("span.hx-rule-target", { text: mark, style: { ...place(from, to, "3"), "--hue": above.hue } });
    el.dataset.state = state;
    lineEl.append(el);
  }
  const words = RULER.says({
    name: level.name,
    own: found.own.length,
    target: found.target.length,
    kept: found.target.filter((x) => x.state === "accepted").length,
    judged: found.target.some((x) => x.state === "accepted" || x.state === "rejected"),
    rest: found.rest,
  });
  const names = h("div.hx-rule-names", { "aria-hidden": "true" }, [
    h("span", { "data-tip": RULER.ownTip }, badge(level)),
    h("span"),
    h("span", { "data-tip": RULER.targetTip }, badge(above)),
  ]);
  return h("div.hx-rulers", { role: "group", tabindex: "0", "aria-label": spoken(found, words) }, [
    h("div.hx-rule-picture", [names, lineEl]),
    h("p.hx-an-muted", words),
  ]);
}

const MARK = /** @type {Record<string, string>} */ ({ accepted: "\u2713", rejected: "\u2717" });

/** Grid lines of a stretch: behind the ends of its columns, over a row. */
const place = (/** @type {number} */ from, /** @type {number} */ to, /** @type {string} */ row) => ({
  "grid-column": `${from + 1} / ${to + 1}`,
  "grid-row": row,
});

function spoken(/** @type {ReturnType<typeof rulers>} */ found, /** @type {string} */ words) {
  const own = found.own.map((x) => x.text).join(" | ");
  const target = found.target.map((x) => `${x.text} ${SAY.states[x.state] ?? ""}`.trim()).join(" | ");
  return `${words} ${RULER.own}: ${own}. ${RULER.target}: ${target}.`;
}

bring({ rounds: [{ name: "rulers", make: rulersOf }] });
