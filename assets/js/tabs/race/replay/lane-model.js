/** One lane of a race: its run's model, on a clock that starts when the prompt is read. */

import { upTo } from "../../../shared/kit/order.js";
import { TraceModel } from "../../../shared/run/trace.js";

/** @typedef {import("../../../shared/visit/feed.js").TraceRecord} TraceRecord */

export class LaneModel {
  /** @param {TraceRecord[]} records @param {Record<string, any>} row what the server says of the lane, if it does */
  constructor(records, row = {}) {
    this.records = records;
    this.row = row;
    this.model = new TraceModel();
    this.model.append(records);
    const { segments, commitTimes } = this.model;
    /** ns, when the prompt was read */
    this.start = Math.max(0, ...segments.filter((x) => x.kind === "prefill" && x.round === null).map((x) => x.t1));
    /** @type {number[]} ns since the start, one per committed token */
    this.times = commitTimes.map((t) => t - this.start);
  }

  get tokens() {
    return this.times.length;
  }

  /** The stack, as it is written. */
  get stack() {
    return this.row.stack ?? this.model.header?.stack ?? "";
  }

  /** ns since the start at which the last token was committed. */
  get finish() {
    return this.times[this.tokens - 1] ?? 0;
  }

  /** Tokens committed by then. @param {number} t ns since the start */
  committedBy(t) {
    return upTo(this.times, t, (x) => x);
  }

  /** tokens/s up to then; null before the first commit. @param {number} t ns since the start */
  rateAt(t) {
    return this.model.snapshotAt(this.start + t)?.tokens_per_s ?? null;
  }

  /** The record of the token at a place of the text. @param {number} at */
  tokenAt(at) {
    return this.model.tokens.get(this.model.committed[at]) ?? null;
  }
}
