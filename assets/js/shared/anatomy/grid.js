/** The round as a picture: levels above each other, the target on top, positions beside each other. A level's calls are
 *  blocks of tiles; a verifier's row stands in its tile as small bars; its cache ends at a mark under the tiles. */

import { h } from "../kit/dom.js";
import { badge } from "../levels/badge.js";
import { figure } from "../../../text/numbers.js";
import { stateOf } from "./round.js";
import { KV, LAYERS, SAY } from "../../../text/en/anatomy.js";
import { upTo } from "../kit/order.js";
import { ranText } from "../run/ran.js";
import { trunksOf } from "../levels/trunk.js";

/** @import {Kv, KvLength, Row} from "../run/events.js" @import {TokenRecord} from "../run/records.js"
 *  @import {Level, TraceModel} from "../run/trace.js" @import {Call, Round, Tile} from "./round.js" */

const BARS = 5; // of a row
const ROOMY = 5; // rows of tiles that leave room for high bars
const CLOSE = 8; // more of them stand without bars

/** @typedef {{at: number, cursor: number, chosen: number|null, call: Call|null,
 *    onChoose: (serial: number, level: number|null) => void}} View at: the settled moment; call: of the event */

/** @param {TraceModel} model @param {Round} round @param {View} view */
export function gridOf(model, round, view) {
  const kept = caches(model, round, view.at);
  const rows = round.rows.reduce((a, b) => a + b, 0);
  const grid = h("div", {
    class: `hx-an-grid ${rows > CLOSE ? "hx-an-dense" : rows <= ROOMY ? "hx-an-roomy" : ""}`.trim(),
    role: "group",
    "aria-label": SAY.grid,
    style: { "--columns": String(round.columns) },
  });
  grid.append(axis(round), textLane(model, round, view.at));
  for (let level = model.levels.length - 1; level >= 0; level--) {
    if (!round.rows[level] && !model.levelsIn(round.round).includes(level)) continue;
    grid.append(lane(model, round, level, kept[level], view));
  }
  return grid;
}

function axis(/** @type {Round} */ round) {
  const line = h("div.hx-an-axis", h("span.hx-an-side", { text: SAY.axis, "data-tip": SAY.position }));
  for (let i = 0; i < round.columns; i++)
    line.append(h("span", { text: String(round.from + i), style: { "grid-column": String(i + 2) } }));
  return line;
}

/** What the round put into the text. @param {TraceModel} model @param {Round} round @param {number} at */
function textLane(model, round, at) {
  const line = h("div.hx-an-text", h("span.hx-an-side", SAY.text));
  for (const record of round.tokens) {
    const level = model.levels[record.level];
    const there = record.tCommit !== null && record.tCommit <= at;
    const cell = h("span.hx-an-said", {
      text: there ? model.pieceText(record.id) : "",
      style: { "grid-column": String(record.at - round.from + 2), "--hue": level.hue },
    });
    if (there) cell.dataset.line = level.underline;
    line.append(cell);
  }
  return line;
}

/** @param {TraceModel} model @param {Round} round @param {number} level @param {Cache|null} cache @param {View} view */
function lane(model, round, level, cache, view) {
  const look = model.levels[level];
  const rows = Math.max(1, round.rows[level]);
  const calls = round.calls.filter((c) => c.segment.level === level);
  const verifies = calls.some((c) => c.segment.kind === "verify");
  const el = h("div", {
    class: `hx-an-lane ${verifies ? "hx-an-verifies" : ""}`.trim(),
    style: { "--rows": String(rows), "--hue": look.hue },
  });
  el.append(side(model, round, level, cache, view));
  for (const call of calls) el.append(...block(model, round, call, view));
  if (cache) el.append(...reach(round, cache));
  return el;
}

/** @param {TraceModel} model @param {Round} round @param {number} level @param {Cache|null} cache @param {View} view */
function side(model, round, level, cache, view) {
  const look = model.levels[level];
  const el = h("div.hx-an-side", { style: { "grid-row": "1 / -1" } }, [
    h("span.hx-an-name", { title: look.name }, [badge(look), h("span", look.name)]),
  ]);
  const small = h("span.hx-an-small");
  if (cache)
    small.append(
      h("span.hx-an-kv", {
        tabindex: "0",
        "data-tip": cacheTip(cache, look.name),
        text: `${KV.name} ${cacheText(cache)}`,
      }),
    );
  const run = layersRun(model, round, level, view.at);
  if (run) small.append(layers(run));
  if (small.childNodes.length) el.append(small);
  return el;
}

/** A model's layers from left to right: those that the last call ran, darker where on more rows. */
function layers(/** @type {NonNullable<ReturnType<typeof layersRun>>} */ { layers: count, lo, runs, text }) {
  const most = Math.max(...runs.map((x) => x.rows));
  const el = h("span.hx-an-layers", {
    tabindex: "0",
    role: "img",
    "data-tip": LAYERS.runs(text, lo),
    "aria-label": text,
  });
  if (lo > 0) el.append(h("i.hx-an-reused", { style: { "--lo": "0", "--hi": String(lo / count) } }));
  for (const { lo: from, hi, rows } of runs)
    el.append(
      h("i", {
        style: {
          "--lo": String(from / count),
          "--hi": String(hi / count),
          "--share": String(0.45 + (0.55 * rows) / most),
        },
      }),
    );
  return el;
}

/** A call: its outline, then its tiles.
 *  @param {TraceModel} model @param {Round} round @param {Call} call @param {View} view */
function block(model, round, call, view) {
  if (!call.tiles.length) return [];
  const at = call.tiles.map((x) => x.record.at - round.from);
  const current = call === view.call;
  const begun = call.segment.t0 <= view.at;
  const nodes = call.tiles.map((tile) => tileNode(model, round, call, tile, view));
  if (begun)
    nodes.unshift(
      h("i", {
        class: `hx-an-block ${current ? "hx-an-now" : ""}`.trim(),
        "aria-hidden": "true",
        style: {
          "grid-column": `${Math.min(...at) + 2} / ${Math.max(...at) + 3}`,
          "grid-row": `${call.row + 1} / ${call.row + 1 + Math.max(...call.tiles.map((x) => x.branch + 1))}`,
        },
      }),
    );
  return nodes;
}

/** @type {Record<string, string>} */ const MARK = {
  accepted: "\u2713",
  rejected: "\u2717",
  unjudged: "",
  asked: "\u2026",
};

/** @param {TraceModel} model @param {Round} round @param {Call} call @param {Tile} tile @param {View} view */
function tileNode(model, round, call, tile, view) {
  const { record, what, judgement } = tile;
  const state = stateOf(model, tile, call, view.at);
  const supplier = model.levels[record.level];
  const shown = state !== "future";
  const text = shown ? model.pieceText(record.id) || "\u2205" : "";
  const el = h(shown ? "button" : "span", {
    class: "hx-an-tile",
    type: shown ? "button" : null,
    tabindex: shown ? "-1" : null,
    "aria-hidden": shown ? null : "true",
    style: {
      "grid-column": String(record.at - round.from + 2),
      "grid-row": String(call.row + tile.branch + 1),
      "--hue": supplier.hue,
    },
  });
  el.dataset.state = state;
  el.dataset.what = what;
  if (!shown) return el;
  el.dataset.line = supplier.underline;
  el.dataset.token = String(record.serial);
  el.append(h("span.hx-an-word", text));
  el.setAttribute("aria-pressed", String(record.serial === view.chosen));
  el.setAttribute("aria-label", spoken(model, tile, call, state, text));
  if (what === "check" && MARK[state]) el.append(h("b", { "aria-hidden": "true", text: MARK[state] }));
  const row = what === "check" ? judgement?.pRow : what === "own" ? record.drawn?.pRow : null;
  if (row?.ids.length && state !== "asked") el.append(column(model, row, record, model.levels[call.segment.level]));
  el.addEventListener("click", () => view.onChoose(record.serial, what === "check" ? call.segment.level : null));
  return el;
}

/** @param {TraceModel} model @param {Tile} tile @param {Call} call @param {keyof typeof SAY.states} state
 *  @param {string} text */
function spoken(model, { what }, call, state, text) {
  const tag = model.levels[call.segment.level].name;
  if (what === "draft") return SAY.drafted(text, tag, SAY.states[state]);
  if (what === "own") return SAY.written(text, tag, SAY.states[state]);
  return SAY.judged(text, tag, SAY.states[state]);
}

/** The likeliest of a row as bars; the token of the tile is the dark one.
 *  @param {TraceModel} model @param {Row} row @param {TokenRecord} record @param {Level} level */
function column(model, row, record, level) {
  const said = row.ids.slice(0, BARS).map((id, i) => `${model.pieceText(id)} ${figure(row.probs[i])}`);
  const el = h("span.hx-an-column", { "aria-hidden": "true", "data-tip": SAY.rowTip(level.tag, said.join(", ")) });
  el.style.setProperty("--hue", level.hue);
  row.ids.slice(0, BARS).forEach((id, i) => {
    const bar = h("i", { style: { "--p": String(row.probs[i]) } });
    if (id === record.id) bar.dataset.mine = "1";
    el.append(bar);
  });
  return el;
}

/** Where the cache ends, under the tiles: up to before the round, and up to now. */
function reach(/** @type {Round} */ round, /** @type {Cache} */ cache) {
  const column = (/** @type {number} */ n) => Math.min(round.columns, Math.max(0, n - round.from));
  const line = (/** @type {string} */ name, /** @type {number} */ from, /** @type {number} */ to) =>
    h("i.hx-an-cache", {
      class: name,
      "aria-hidden": "true",
      style: { "grid-column": `${from + 2} / ${to + 2}`, "grid-row": "-2" },
    });
  const now = cache.reach === null ? 0 : column(cache.reach);
  const waits = column((cache.reach ?? 0) + cache.waits);
  return [
    ...(now > 0 ? [line("hx-an-cached", 0, now)] : []),
    ...(waits > now ? [line("hx-an-waits", now, waits)] : []),
  ];
}

// The keys and values of a level over a round, and the layers that its calls ran: what is known at a moment.

/** @typedef {{before: KvLength|null, now: KvLength|null, reach: number|null, begins: number|null, waits: number}} Cache
 *    reach: how many positions of the output are cached now; begins: before the round; waits: positions still to be read */

/** @param {TraceModel} model @param {Round} round @param {number} at a settled moment
 *  @returns {(Cache|null)[]} by level; null for a level without a cache */
export function caches(model, round, at) {
  const before = model.kv[upTo(model.kv, round.t0 - 1, (k) => k.t) - 1] ?? null;
  const now = model.kv[upTo(model.kv, at, (k) => k.t) - 1] ?? null;
  const prompt = model.header?.prompt_ids.length ?? 0;
  return model.levels.map((_, level) => {
    const of = (/** @type {Kv|null} */ kv) => kv?.levels.find((x) => x.level === level) ?? null;
    const [first, last] = [of(before), of(now)];
    if (!first && !last && !model.kv.some((kv) => of(kv))) return null;
    return {
      before: first,
      now: last,
      reach: last ? last.cached - prompt : null,
      begins: first ? first.cached - prompt : null,
      waits: last?.catch_up ?? 0,
    };
  });
}

/** "131 → 136": cached positions before the round and now. @param {Cache} cache */
function cacheText({ before, now }) {
  const said = (/** @type {KvLength|null} */ x) => (x ? String(x.cached) : "\u2013");
  return `${said(before)} \u2192 ${said(now)}`;
}

/** @param {Cache} cache @param {string} name */
function cacheTip({ before, now }, name) {
  const said = (/** @type {KvLength|null} */ x) => (x ? KV.lengths(x) : KV.unknown);
  return `${KV.of(name)} ${KV.before} ${said(before)}; ${KV.now} ${said(now)}. ${KV.formula}`;
}

/** The layers that a level's last call ran and did not run: null for a level that shares none.
 *  @param {TraceModel} model @param {Round} round @param {number} level @param {number} at
 *  @returns {{layers: number, lo: number, runs: {lo: number, hi: number, rows: number}[], text: string}|null} */
function layersRun(model, round, level, at) {
  const call = round.calls.filter((c) => c.segment.level === level && c.segment.t1 <= at).at(-1);
  const trunk = model.header && trunksOf(model.header).find((one) => one.members.some((x) => x.index === level));
  const member = trunk?.members.find((x) => x.index === level);
  if (!call?.segment.ran?.length || !trunk || !member) return null;
  return { layers: trunk.layers, lo: member.lo, runs: call.segment.ran, text: ranText(call.segment) };
}
