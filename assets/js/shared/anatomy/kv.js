/** The keys and values of a level over a round, and the layers that its calls ran: what is known at a moment. */

import { upTo } from "../kit/order.js";
import { ranText } from "../run/ran.js";
import { trunksOf } from "../levels/trunk.js";
import { KV } from "../../../text/en/anatomy.js";

/**
 * @typedef {import("../run/trace.js").TraceModel} TraceModel
 * @typedef {import("../run/events.js").KvLength} KvLength
 * @typedef {{before: KvLength|null, now: KvLength|null, reach: number|null, begins: number|null, waits: number}} Cache
 *   reach: how many positions of the output are cached now; begins: before the round; waits: positions still to be read
 */

/**
 * @param {TraceModel} model @param {import("./round.js").Round} round @param {number} at a settled moment
 * @returns {(Cache|null)[]} by level; null for a level without a cache
 */
export function caches(model, round, at) {
  const before = model.kv[upTo(model.kv, round.t0 - 1, (k) => k.t) - 1] ?? null;
  const now = model.kv[upTo(model.kv, at, (k) => k.t) - 1] ?? null;
  const prompt = model.header?.prompt_ids.length ?? 0;
  return model.levels.map((_, level) => {
    const of = (/** @type {import("../run/events.js").Kv|null} */ kv) =>
      kv?.levels.find((x) => x.level === level) ?? null;
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
export function cacheText({ before, now }) {
  const said = (/** @type {KvLength|null} */ x) => (x ? String(x.cached) : "\u2013");
  return `${said(before)} \u2192 ${said(now)}`;
}

/** @param {Cache} cache @param {string} name */
export function cacheTip({ before, now }, name) {
  const said = (/** @type {KvLength|null} */ x) => (x ? KV.lengths(x) : KV.unknown);
  return `${KV.of(name)} ${KV.before} ${said(before)}; ${KV.now} ${said(now)}. ${KV.formula}`;
}

/**
 * The layers that a level's last call ran and did not run: null for a level that shares none.
 * @param {TraceModel} model @param {import("./round.js").Round} round @param {number} level @param {number} at
 * @returns {{layers: number, lo: number, runs: {lo: number, hi: number, rows: number}[], text: string}|null}
 */
export function layersRun(model, round, level, at) {
  const call = round.calls.filter((c) => c.segment.level === level && c.segment.t1 <= at).at(-1);
  const trunk = model.header && trunksOf(model.header).find((one) => one.members.some((x) => x.index === level));
  const member = trunk?.members.find((x) => x.index === level);
  if (!call?.segment.ran?.length || !trunk || !member) return null;
  return { layers: trunk.layers, lo: member.lo, runs: call.segment.ran, text: ranText(call.segment) };
}
