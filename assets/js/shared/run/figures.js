/** The figures of a run at a moment, as the server sends them between the events: the run's after each commit, a
 *  level's after each of its calls. */

import { upTo } from "../kit/order.js";

/** Records that are the page's own and no events of the trace. */
export const OWN = new Set(["snapshot", "gauge"]);

/** @typedef {{event: "snapshot", round: number, t: number, [figure: string]: any}} Snapshot */
/** @typedef {{event: "gauge", level: number, t: number, acceptance: number|null, judged: number, accepted: number,
 *    forwards: number, rows: number, catch_up?: number, ms_per_call: number|null, busy_ms: number}} Gauge
 *  @typedef {import("./events.js").TraceEvent | Snapshot | Gauge} TraceRecord */

export class Figures {
  constructor() {
    /** @type {Snapshot[]} */ this.run = [];
    /** @type {Map<number, Gauge[]>} */ this.levels = new Map();
  }

  /** @param {Snapshot|Gauge} record */
  add(record) {
    if (record.event === "snapshot") return void this.run.push(record);
    const own = this.levels.get(record.level) ?? [];
    this.levels.set(record.level, own);
    own.push(record);
  }

  /** The run's, as they were after the last commit before a cursor (ns). @param {number} cursor */
  at(cursor) {
    return this.run[upTo(this.run, cursor, (x) => x.t) - 1] ?? null;
  }

  /** Calls of a level that were over at a cursor: each has its gauge. @param {number} cursor @param {number} level */
  calls(cursor, level) {
    return upTo(this.levels.get(level) ?? [], cursor, (x) => x.t);
  }

  /** A level's, as they were after its last call before a cursor (ns). @param {number} cursor @param {number} level */
  of(cursor, level) {
    const own = this.levels.get(level) ?? [];
    return own[upTo(own, cursor, (x) => x.t) - 1] ?? null;
  }
}

/** Tokens/s of plain decoding, prefill excluded; null when it was not measured. */
export function plainSpeed(/** @type {import("./events.js").Baseline|null|undefined} */ baseline) {
  const last = baseline?.token_ns?.at(-1);
  return baseline && last !== undefined ? (baseline.token_ns.length / last) * 1e9 : null;
}

/** How many times as fast as plain decoding a run was up to a moment; null where either is not known.
 *  @param {{baseline: import("./events.js").Baseline|null, snapshotAt: (t: number) => Snapshot|null}} model @param {number} cursor ns
 */
export function speedUp(model, cursor) {
  const plain = plainSpeed(model.baseline);
  const now = model.snapshotAt(cursor)?.tokens_per_s ?? null;
  return plain === null || now === null ? null : now / plain;
}
