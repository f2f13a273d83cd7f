/** One round as it stands at a cursor: its calls level by level, their tokens over the positions, its events in order.
 *  Nothing here draws. A moment between two calls belongs to the one before it: what a verifier drew, and the caches that
 *  were cut, come with its verdict. */

import { upTo } from "../kit/order.js";

/** @import {Judgement, TokenRecord} from "../run/records.js" @import {Segment, TraceModel} from "../run/trace.js" */

/** @typedef {"draft"|"check"|"own"} What a token was drafted here, judged here, or is this verifier's own
 *  @typedef {{record: TokenRecord, what: What, judgement: Judgement|null, branch: number}} Tile branch: its row among
 *    sequences side by side
 *  @typedef {{segment: Segment, tiles: Tile[], branches: number, row: number}} Call row: where its first branch stands
 *  @typedef {{t: number, kind: string, level: number, call: Call|null}} Happening
 *  @typedef {{round: number, place: number, t0: number, t1: number, from: number, columns: number, tokens: TokenRecord[],
 *    calls: Call[], rows: number[], happenings: Happening[]}} Round place: among the rounds, from 0; rows: by level */

/** The moment that a cursor stands for: the end of what follows the event before it, or itself within a call.
 *  @param {TraceModel} model @param {number} cursor */
export function settled(model, cursor) {
  const { segments, marks } = model;
  const begun = upTo(segments, cursor - 1, (s) => s.t0) - 1; // a simulated call begins as the one before it ends
  if (begun >= 0 && segments[begun].t1 > cursor) return cursor;
  const next = Math.min(segments[begun + 1]?.t0 ?? Infinity, marks[upTo(marks, cursor, (m) => m.t)]?.t ?? Infinity);
  return Math.max(cursor, Math.min(next - 1, model.end));
}

/** Which round a cursor is in, by its place among the rounds: the one of the call that runs, else of the last event.
 *  @param {TraceModel} model @param {number} cursor */
export function placeOf(model, cursor) {
  const { segments, marks, rounds } = model;
  const begun = segments[upTo(segments, cursor - 1, (s) => s.t0) - 1];
  const running = begun && begun.t1 > cursor && begun.round !== null ? begun.round : null;
  const round = running ?? marks[upTo(marks, cursor, (m) => m.t) - 1]?.round ?? rounds[0]?.round;
  return round === undefined ? -1 : rounds.findIndex((r) => r.round === round);
}

/** @type {WeakMap<TraceModel, {version: number, rounds: Map<number, Round>}>} */
const built = new WeakMap();

/** A round with all that will have happened in it. @param {TraceModel} model @param {number} place
 *  @returns {Round|null} */
export function roundOf(model, place) {
  if (!model.rounds[place]) return null;
  let kept = built.get(model);
  if (kept?.version !== model.version) built.set(model, (kept = { version: model.version, rounds: new Map() }));
  const known = kept.rounds.get(place);
  if (known) return known;
  const made = make(model, place);
  kept.rounds.set(place, made);
  return made;
}

/** @param {TraceModel} model @param {number} place @returns {Round} */
function make(model, place) {
  const { round, t0, t1 } = model.rounds[place];
  const records = [...model.tokens.values()].filter((x) => x.round === round);
  const calls = model.segments
    .filter((s) => s.round === round && (s.kind === "draft" || s.kind === "verify"))
    .map((segment, i, all) =>
      callOf(segment, all.slice(i + 1).find((s) => s.level === segment.level)?.t1 ?? Infinity, records),
    );
  const places = records.map((x) => x.at);
  const from = places.length ? Math.min(...places) : model.committedAt(t0);
  const happenings = model.marks
    .filter((m) => m.round === round)
    .map((m) => ({ t: m.t, kind: m.kind, level: m.level, call: callAt(calls, m) }));
  return {
    round,
    place,
    t0,
    t1,
    from,
    columns: places.length ? Math.max(...places) - from + 1 : 1,
    tokens: records.filter((x) => x.tCommit !== null).sort((a, b) => a.at - b.at),
    calls,
    rows: model.levels.map((_, level) => stack(calls.filter((c) => c.segment.level === level))),
    happenings,
  };
}

/** @param {Segment} segment @param {number} next when this level's next call ends @param {TokenRecord[]} records @returns {Call} */
function callOf(segment, next, records) {
  const { kind, level, t0, t1 } = segment;
  const branchOf = (/** @type {TokenRecord} */ x) => x.fork?.tree.rowOf[x.fork.tree.nodes.indexOf(x)] ?? 0;
  /** @type {Tile[]} */ const tiles = [];
  for (const record of records) {
    if (kind === "draft") {
      if (record.how === "draft" && record.level === level && record.tDraft > t0 && record.tDraft <= t1)
        tiles.push({ record, what: "draft", judgement: null, branch: branchOf(record) });
      continue;
    }
    const judgement = record.judgements.find((j) => j.level === level && j.t === t1);
    if (judgement)
      tiles.push({ record, what: "check", judgement, branch: record.how === "draft" ? branchOf(record) : 0 });
    const own = record.how !== "draft" && record.level === level && record.tDraft >= t1 && record.tDraft < next;
    if (own) tiles.push({ record, what: "own", judgement: null, branch: 0 });
  }
  tiles.sort((a, b) => a.record.at - b.record.at || a.branch - b.branch || a.record.serial - b.record.serial);
  seat(tiles);
  return { segment, tiles, branches: 1 + Math.max(0, ...tiles.map((x) => x.branch)), row: 0 };
}

/** A verifier's own token stands behind the kept path, in a row of its own where a candidate has that place. */
function seat(/** @type {Tile[]} */ tiles) {
  const own = tiles.find((x) => x.what === "own");
  const taken = tiles.filter((x) => x !== own && x.record.at === own?.record.at).map((x) => x.branch);
  if (own && taken.length) own.branch = Math.max(...taken) + 1;
}

/** Calls of one level, in rows: a call goes into the first ones in which its places are free. Returns how many. */
function stack(/** @type {Call[]} */ calls) {
  /** @type {Set<number>[]} */ const rows = [];
  for (const call of calls) {
    const places = new Set(call.tiles.map((x) => x.record.at));
    if (!places.size) continue;
    const free = (/** @type {number} */ row) => {
      for (let i = row; i < row + call.branches; i++)
        if (rows[i] && [...places].some((at) => rows[i].has(at))) return false;
      return true;
    };
    while (!free(call.row)) call.row += 1;
    for (let i = call.row; i < call.row + call.branches; i++) {
      rows[i] ??= new Set();
      for (const at of places) rows[i].add(at);
    }
  }
  return rows.length;
}

/** @param {Call[]} calls @param {{t: number, kind: string, level: number}} mark */
function callAt(calls, { t, kind, level }) {
  if (kind !== "draft" && kind !== "verify" && kind !== "reject") return null;
  return calls.find((c) => c.segment.level === level && c.segment.t1 === t) ?? null;
}

/** The last event at a cursor, -1 before the first. @param {Round} round @param {number} cursor */
export const happened = (round, cursor) => upTo(round.happenings, cursor, (x) => x.t) - 1;

/** What has become of a tile.
 *  @param {TraceModel} model @param {Tile} tile @param {Call} call @param {number} at a settled moment
 *  @returns {"future"|"asked"|"accepted"|"rejected"|"unjudged"|"waiting"|"lost"|"committed"} */
export function stateOf(model, tile, call, at) {
  const { record, what, judgement } = tile;
  const { t0, t1 } = call.segment;
  if (what === "check") {
    if (t1 > at) return t0 <= at ? "asked" : "future";
    return /** @type {any} */ (judgement?.outcome ?? "unjudged");
  }
  if (record.tDraft > at) return "future";
  if (record.tGone !== null && record.tGone <= at) return record.goneBy === null ? "lost" : "rejected";
  return model.state(record, at) === "committed" ? "committed" : "waiting";
}

/** The tiles of an event, or of the round up to a moment, that a reader may choose from, in order of place.
 *  @param {Round} round @param {number} at */
export function choices(round, at) {
  const seen = new Set();
  const found = [];
  for (const call of round.calls)
    for (const { record } of call.tiles) {
      if (record.tDraft > at || seen.has(record.serial)) continue;
      seen.add(record.serial);
      found.push(record);
    }
  return found.sort((a, b) => a.at - b.at || a.serial - b.serial);
}

/** The token that an event is about: the one that was rejected, else the verifier's own, else the last one.
 *  @param {Round} round @param {number} cursor @returns {TokenRecord|null} */
export function spotlight(round, cursor) {
  for (let i = happened(round, cursor); i >= 0; i--) {
    const tiles = round.happenings[i].call?.tiles ?? [];
    const found =
      tiles.find((x) => x.judgement?.outcome === "rejected") ??
      tiles.filter((x) => x.judgement?.outcome === "accepted").at(-1) ??
      tiles.at(-1);
    if (found) return found.record;
  }
  return null;
}
