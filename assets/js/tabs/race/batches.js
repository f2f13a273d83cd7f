/** Many requests at once: the records of a load race in, and out of each of its two batches the passes with the rows that
 *  each request took, and tokens/s in sum, at any moment. Times are ns on the batch's clock; a cursor is 0 when the last
 *  prompt has been read. */

import { upTo } from "../../shared/kit/order.js";
import { styleLevels } from "../../shared/levels/kinds.js";
import { levelNames } from "../../shared/levels/stack-names.js";
import { duration } from "../../../text/numbers.js";

/** @import {Draft, Header, Verify} from "../../shared/run/events.js" @import {Look} from "../../shared/levels/kinds.js"
 *  @import {TraceRecord} from "../../shared/run/figures.js" */

/** A batch, as hsd_core/measure/load.py counts it; `passes`: of each level [joint passes, ms, rows, requests], summed.
 *  @typedef {{tokens: number[], decode_ns: number[], ns: number, together: number, equal: number, passes: [number, number, number, number][]}} Counted */
/** The first record (hsd_core/measure/race/load_race.py). `repeats`: the batches of each, plain decoding first; empty while
 *  they are decoded.
 *  @typedef {{event: "load", preset: string, load: number, stacks: [string, string], max_new_tokens: number, prompts: string[],
 *    repeats: [Counted, Counted][], shown: number, command: string, recorded: string, machine: string, device: string,
 *    dtype: string, threads: number}} Head
 *  @typedef {{event: "loadevent", side: number, request: number, of: TraceRecord}} LoadEvent */
/** Passes through a level, at once for `requests`, each with its `rows`; `passes` of them, together from t0 to t1.
 *  @typedef {{level: number, t0: number, t1: number, passes: number, requests: number[], rows: number[], seen: number}} Joint */
/** What a request's passes were, one after another. @typedef {{level: number, t0: number, t1: number, rows: number}} Cell */

class Request {
  constructor() {
    /** @type {TraceRecord[]} */ this.records = [];
    this.read = 0; // when its prompt was read
    /** @type {number[]} */ this.commits = []; // when it committed
    /** @type {{t0: number, requests: number[]}} */ this.verified = { t0: 0, requests: [] }; // by the target, last
    this.over = false;
    /** @type {Cell[]} */ this.cells = [];
    /** @type {number[]} */ this.ids = []; // of its text
  }
}

class Batch {
  /** @param {number} load */
  constructor(load) {
    this.requests = Array.from({ length: load }, () => new Request());
    /** @type {Look[]} */ this.levels = [];
    /** @type {Joint[]} */ this.passes = [];
    /** @type {number[]} */ this.times = []; // of each committed token, ascending
    /** @type {Map<string, Joint>} */ this._open = new Map();
  }

  /** When the last prompt has been read; Infinity before. */
  get began() {
    const read = this.requests.map((one) => one.read || Infinity);
    return Math.max(...read);
  }

  /** The cursor at which the last text ends, as far as it is known. */
  get end() {
    return Math.max(0, (this.times.at(-1) ?? 0) - this.began);
  }

  /** The cursor at which the first text ends, and all have committed what the same pass verified: until then all requests
   *  are decoded, and tokens/s are counted. */
  get firstEnd() {
    const over = this.requests.filter((one) => one.over && one.commits.length);
    if (!over.length) return this.end;
    const last = (/** @type {Request} */ one) => one.commits[one.commits.length - 1];
    const { t0, requests } = over.reduce((a, b) => (last(b) < last(a) ? b : a)).verified;
    return Math.max(0, ...requests.map((i) => (this.requests[i].commits.find((t) => t > t0) ?? 0) - this.began));
  }

  /** Tokens of all texts. @param {number} cursor */
  tokensBy(cursor) {
    return upTo(this.times, this.began + cursor, (t) => t);
  }

  /** Tokens/s in sum up to a cursor, or until the first text ends; null at the start. @param {number} cursor */
  rateAt(cursor) {
    const now = Math.min(cursor, this.firstEnd);
    return now > 0 ? (this.tokensBy(now) * 1e9) / now : null;
  }

  /** @param {number} request @param {any} event */
  take(request, event) {
    const own = this.requests[request];
    own.records.push(event);
    if (event.event === "header" && !this.levels.length) this.levels = looksOf(event);
    else if (event.event === "prefill" && typeof event.round !== "number") own.read = Math.max(own.read, event.t1);
    else if (event.event === "draft" || event.event === "verify") this._passed(request, event);
    else if (event.event === "footer") own.over = true;
    else if (event.event === "commit") {
      own.commits.push(event.t);
      for (const { id } of event.tokens) {
        own.ids.push(id);
        this.times.push(event.t);
      }
    }
  }

  /** @param {number} request @param {Draft|Verify} event */
  _passed(request, { level, t0: begun, t1, work, notes }) {
    const shared = notes?.batch;
    const alone = work.rows ?? 0;
    if (!shared && !alone) return; // lookups
    const { runs, rows, passes, ns } = shared ?? { runs: [request], rows: [alone], passes: 1, ns: t1 - begun };
    // Whoever was in the same passes was told the same of them; the first one to go on says when they were over.
    const key = [level, passes, ns, runs, rows].join(" ");
    const known = shared && this._open.get(key);
    const joint = known || { level, t0: t1 - ns, t1, passes, requests: runs, rows, seen: 0 };
    if (!known) this.passes.push(joint);
    joint.seen += 1;
    if (joint.seen < runs.length) this._open.set(key, joint);
    else this._open.delete(key);
    if (level === this.levels.length - 1) this.requests[request].verified = { t0: begun, requests: runs };
    this.requests[request].cells.push({ level, t0: joint.t0, t1: joint.t1, rows: rows[runs.indexOf(request)] });
  }

  /** Of each level its passes, and summed over them ms, rows and requests: as hsd_core/measure/load.py counts them. */
  counted() {
    return this.levels.map((_, level) => {
      const sums = [0, 0, 0, 0];
      for (const { passes, t0, t1, rows, requests, seen } of this.passes.filter((one) => one.level === level)) {
        const share = seen / requests.length; // 1, but where others drafted in these passes and in more
        const all = rows.reduce((a, b) => a + b, 0);
        [passes, (t1 - t0) / 1e6, all, passes * requests.length].forEach((more, i) => (sums[i] += share * more));
      }
      return sums;
    });
  }
}

/** @param {Header} header */
function looksOf({ stack, levels }) {
  const names = levelNames(stack, levels);
  return styleLevels(levels.map(({ kind }, i) => ({ kind, label: names[i] })));
}

/** Both batches on one clock, as a player takes them. */
export class Batches {
  constructor() {
    /** @type {Head|null} */ this.head = null;
    /** @type {Batch[]} */ this.sides = [];
    this.taken = 0; // records
    this.over = false; // nothing more comes
    /** @type {number[]} */ this.commitTimes = []; // when a pass of the target ends
    /** @type {{t: number, kind: string}[]} */ this.marks = [];
  }

  /** @param {(Head|LoadEvent)[]} records */
  take(records) {
    for (const record of records) {
      if (record.event === "loadevent") this.sides[record.side].take(record.request, record.of);
      else {
        this.head = record;
        if (!this.sides.length) this.sides = record.stacks.map(() => new Batch(record.load));
      }
    }
    this.taken += records.length;
    const ends = this.sides.flatMap(({ passes, levels, began }) =>
      passes.filter(({ level }) => level === levels.length - 1).map(({ t1 }) => t1 - began),
    );
    this.commitTimes = [...new Set(ends.filter((t) => t >= 0))].sort((a, b) => a - b);
    this.marks = this.commitTimes.map((t) => ({ t, kind: "commit" }));
  }

  get header() {
    return this.head;
  }

  get footer() {
    return this.over || this.whole ? this.head : null;
  }

  /** Whether both batches came to their end. */
  get whole() {
    return Boolean(this.head?.repeats.length);
  }

  get rounds() {
    return [{ t0: 0 }];
  }

  get end() {
    return Math.max(0, ...this.sides.map(({ end }) => end));
  }

  /** The most rows that a request took at once. */
  get rows() {
    return Math.max(
      1,
      ...this.sides.flatMap(({ requests }) => requests.flatMap(({ cells }) => cells.map((x) => x.rows))),
    );
  }

  /** @param {number} cursor */
  clockText(cursor) {
    return `${duration(Math.min(cursor, this.end))}\u2009/\u2009${duration(this.end)}`;
  }
}
