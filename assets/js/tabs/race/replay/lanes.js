/** The lanes of a race: each its run's model on a clock that starts when the prompt is read, and all of them on one clock. */

import { upTo } from "../../../shared/kit/order.js";
import { TraceModel } from "../../../shared/run/trace.js";
import { duration } from "../../../../text/numbers.js";
import { LANE } from "../../../../text/en/race.js";

/** @import {TraceRecord} from "../../../shared/run/figures.js" */

/** What the server says of a lane (hsd_core/measure/race/racing.py), and of a race (app/tabs/race/shown.py).
 *  @typedef {{stack: string, clock: string, lossless: boolean, lossless_reason: string, spared?: number|null, tokens: number, prefill_ns: number, tokens_per_s: number,
 *    place: number|null, speed_up: number, interval: [number, number]|null, accepted_per_pass: number,
 *    same: {equal: number, diverges: boolean, margin: number|null, tie: boolean, target: boolean}|null}} Row
 *  @typedef {{tokens: number, decode_ns: number}} Took
 *  @typedef {{name: string, preset: string|null, seed: number, sampling: Record<string, any>, max_new_tokens: number,
 *    race: {title: string, stacks: string[], repeats: Took[][], shown: number, prompt: string, about?: string, command?: string, recorded?: string,
 *      machine?: string, device?: string, dtype?: string, threads?: number, versions?: Record<string, string>},
 *    lanes: (Row & {records: TraceRecord[]})[]}} Race */

export class LaneModel {
  /** @param {TraceRecord[]} records @param {Partial<Row>} row what the server says of the lane, if it does */
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

// The lanes on one clock, as a player takes them: by time since the prompt was read, or token by token.

/** @typedef {"time"|"token"} Align */

const TOKEN_NS = 5e7; // of a replay that goes token by token

export class Field {
  /** @param {LaneModel[]} lanes @param {Align} align */
  constructor(lanes, align = "time") {
    this.lanes = lanes;
    this.align = align;
    this.header = lanes[0]?.model.header ?? null;
    this.footer = true; // nothing more comes
    this.most = Math.max(1, ...lanes.map((lane) => lane.tokens));
    this.end = align === "token" ? this.most * TOKEN_NS : Math.max(0, ...lanes.map((lane) => lane.finish));
    const own = lanes.flatMap((lane) => marksOf(lane, align));
    this.marks = own.filter((mark) => mark.t >= 0).sort((a, b) => a.t - b.t);
    this.commitTimes = this.marks.filter((mark) => mark.kind === "commit").map((mark) => mark.t);
    this.rounds = [{ t0: 0 }];
  }

  /** A lane's time (ns since its start) at a cursor. @param {LaneModel} lane @param {number} cursor */
  at(lane, cursor) {
    if (this.align === "time") return cursor;
    const tokens = Math.floor(cursor / TOKEN_NS + 1e-6);
    return tokens ? lane.times[Math.min(tokens, lane.tokens) - 1] : 0;
  }

  /** Tokens that the cursor stands behind, where lanes go token by token. @param {number} cursor */
  tokensAt(cursor) {
    return Math.floor(cursor / TOKEN_NS + 1e-6);
  }

  /** The cursor at which a lane has committed the token at a place. @param {LaneModel} lane @param {number} at */
  cursorOf(lane, at) {
    return this.align === "time" ? (lane.times[at] ?? 0) : (at + 1) * TOKEN_NS;
  }

  /** @param {number} cursor */
  clockText(cursor) {
    if (this.align === "token") return LANE.clock(this.tokensAt(cursor), this.most);
    return `${duration(Math.min(cursor, this.end))}\u2009/\u2009${duration(this.end)}`;
  }

  roundAt(/** @type {number} */ cursor) {
    return upTo(this.commitTimes, cursor, (t) => t) - 1;
  }
}

/** @param {LaneModel} lane @param {Align} align */
function marksOf(lane, align) {
  if (align === "token") return lane.times.map((_, i) => ({ t: (i + 1) * TOKEN_NS, kind: "commit" }));
  return lane.model.marks.map((mark) => ({ t: mark.t - lane.start, kind: mark.kind }));
}
