/** The client's model of a run: events in; rounds, segments, figures and token records (tokens.js) with times out.
 *   Nothing here knows the cursor, so what the page shows at any moment is a pure function of (model, cursor), live and
 *   in replay. Times are ns on the engine's clock. */

import { upTo } from "../kit/order.js";
import { styleLevels } from "../levels/kinds.js";
import { inVain, overlaps, taken } from "../levels/overlap.js";
import { levelNames } from "../levels/stack-names.js";
import { Figures, OWN } from "./figures.js";
import { Moments } from "./moments.js";
import { Tokens, placeOffered } from "./tokens.js";
import { treeOf } from "./tree.js";

/** @import {Look} from "../levels/kinds.js"
 *  @import {Baseline, Bonus, Commit, Correct, Draft, Footer, Header, Kv, LevelInfo, Plan, Prefill, Report, Span, Verify} from "./events.js"
 *  @import {Gauge, Snapshot, TraceRecord} from "./figures.js" @import {TokenRecord} from "./records.js" */

/** @typedef {LevelInfo & Look} Level */
/** `before`: what was tentative when it began.
 *  @typedef {{round: number, t0: number, t1: number, byLevel: number[], tokens: number, before: TokenRecord[],
 *    segments: Segment[]}} Round */
/** @typedef {{kind: string, level: number, round: number|null, t0: number, t1: number, rows: number, tokensIn: number,
 *    tokensOut: number, rejected?: boolean, rejects?: number, sequences?: number, ran?: Span[],
 *    catchUp?: number, probes?: number, theta?: number|null, at?: number, serials?: number[], silent?: number, vain?: number, wrote?: number,
 *    stale?: boolean, fell?: number, notes?: Verify["notes"], own?: number[]}} Segment */
export class TraceModel extends Tokens {
  constructor() {
    super();
    /** @type {Header|null} */ this.header = null;
    /** @type {Footer|null} */ this.footer = null;
    /** @type {Baseline|null} */ this.baseline = null;
    /** @type {Level[]} */ this.levels = []; // header.levels with their looks
    /** @type {Round[]} */ this.rounds = [];
    /** @type {Plan[]} */ this.plans = []; // where the run chose its levels again
    /** @type {Segment[]} */ this.segments = [];
    this.figures = new Figures();
    this.moments = new Moments();
    /** @type {{t: number, kind: string, round: number, level: number}[]} */ this.marks = []; // where stepping stops
    /** @type {Kv[]} */ this.kv = [];
    /** @type {Report[]} */ this.reports = []; // what systems say beside passes
    /** @type {{of: number, accepted: number}[][]} */ this.judged = []; // by level, then by place in the blocks it judged
    this._guess = 1; // sequences that the bottom level may offer
    this.end = 0; // last ns seen
    this.version = 0; // grows with every append
    /** @type {Segment|null} */ this._open = null; // of the last verifier: its correction or bonus belongs to it
  }

  /** Feeds events, in order, each once. Unknown events are skipped. */
  append(/** @type {TraceRecord[]} */ events) {
    for (const one of events) {
      const event = overlaps(this.header) ? taken(one, this.end) : one;
      /** @type {Record<string, any>} */ (this)["_" + event.event]?.(event);
      this.moments.add(event);
      this.end = Math.max(this.end, event.t1 ?? event.t ?? 0);
    }
    if (events.length) this.version += 1;
  }

  /** @param {Header} e */
  _header(e) {
    this.header = e;
    const names = levelNames(e.stack ?? "", e.levels);
    const looks = styleLevels(e.levels.map(({ kind }, i) => ({ kind, label: names[i] })));
    this.levels = e.levels.map((info, i) => ({ ...info, ...looks[i] }));
    const { guess, tree, grow, fuse, ready } = e.levels[0]?.params ?? {};
    const leaves = tree
      ? String(tree)
          .split(".")
          .reduce((n, part) => n * Number(part), 1)
      : Number(grow ?? guess ?? ready);
    this._guess = Math.min(64, (leaves || 1) + (Number(fuse) || 0));
  }

  /** @param {Prefill} e */
  _prefill(e) {
    const work = { kind: "prefill", rows: e.tokens, tokensIn: e.tokens, tokensOut: 0 };
    if (typeof e.round === "number")
      this._segment({ ...e, round: e.round }, work); // a level that joins: time of that round
    else this.segments.push({ ...work, level: e.level, t0: e.t0, t1: e.t1, round: null });
  }

  /** @param {Plan} e */
  _plan(e) {
    this.plans.push(e);
    this.marks.push({ t: e.t, kind: "plan", round: e.round, level: this.levels.length - 1 });
  }

  /** @param {Draft} e */
  _draft(e) {
    const { at, tokens, notes } = e;
    const segment = this._segment(e, {
      kind: "draft",
      tokensIn: 0,
      tokensOut: tokens.length,
      at,
      serials: tokens.map((x) => x.serial),
      silent: notes?.lookups?.silent ?? 0,
      own: notes?.ruler?.bytes,
      notes,
    });
    const tree = notes?.stale ? null : treeOf(e, this._guess > 1, this._waiting);
    if (tree) segment.sequences = tree.rows;
    if (notes?.stale) segment.vain = tokens.length;
    else this._drafted(e, tree);
    if (tokens.length) this.marks.push({ t: e.t1, kind: "draft", round: e.round, level: e.level });
  }

  /** @param {Verify} e */
  _verify(e) {
    const kept = e.checks.filter((c) => c.outcome === "accepted").length;
    const tree = this._judgedTree(e);
    const segment = this._segment(e, { kind: "verify", tokensIn: e.checks.length, tokensOut: kept });
    const bounds = new Map((e.bounds ?? []).map((bound) => [placeOffered(this.tokens.get(bound.first)), bound]));
    const places = (this.judged[e.level] ??= []);
    for (const [place, { outcome }] of e.checks.entries())
      if (outcome !== "unjudged") {
        const cell = (places[place] ??= { of: 0, accepted: 0 });
        cell.of += 1;
        cell.accepted += Number(outcome === "accepted");
      }
    for (const c of e.checks) {
      const record = this.tokens.get(c.serial);
      if (!record) continue;
      this._judge(record, c, e, bounds.get(placeOffered(record)) ?? null);
      if (c.outcome === "rejected") {
        segment.rejected = true;
        segment.rejects = (segment.rejects ?? 0) + 1;
        if (!tree) this._lose(record.at, e.t1, e.level, record);
      }
    }
    if (tree) this._settle(tree, e);
    const { dropped, stale } = e.notes ?? {};
    if (dropped) {
      segment.fell = dropped.serials.length;
      inVain(this.segments, dropped.serials);
    }
    if (stale) segment.vain = 1;
    segment.notes = e.notes;
    this.marks.push({ t: e.t1, kind: segment.rejected ? "reject" : "verify", round: e.round, level: e.level });
    this._open = segment;
  }

  /** @param {Correct} e */
  _correct(e) {
    this._extra(e, "correct");
  }

  /** @param {Bonus} e */
  _bonus(e) {
    this._extra(e, "bonus");
  }

  /** @param {Correct | Bonus} e @param {string} how */
  _extra(e, how) {
    const record = this._place(
      {
        serial: e.serial,
        id: e.id,
        at: e.at,
        level: e.level,
        how,
        source: "",
        round: e.round,
        q: null,
        confidence: null,
      },
      e.t,
    );
    record.drawn = { p: e.p, pRow: e.p_row };
    const tree = this._tree;
    if (tree?.judged?.level === e.level && tree.end.at === e.at) record.fork = { tree, parent: tree.end.parent };
    const own = this._open;
    if (own && own.level === e.level && own.round === e.round) {
      own.tokensOut += 1;
      own.wrote = e.serial;
    }
  }

  /** @param {Commit} e */
  _commit(e) {
    this._tree = null;
    this._write(e);
    const round = this._round(e.round, e.t);
    Object.assign(round, { t1: e.t, tokens: round.tokens + e.tokens.length });
    this.marks.push({ t: e.t, kind: "commit", round: e.round, level: this.levels.length - 1 });
  }

  /** @param {Kv} e */
  _kv(e) {
    this.kv.push(e);
  }

  /** @param {Report} e */
  _report(e) {
    this.reports.push(e);
  }

  /** @param {Snapshot} e */
  _snapshot(e) {
    this.figures.add(e);
  }

  /** @param {Gauge} e */
  _gauge(e) {
    this.figures.add(e);
  }

  /** @param {Footer} e */
  _footer(e) {
    this.footer = e;
    if (this._alive.length) this._lose(this._alive[0].at, this.end, null, null);
    const open = this._tree?.judged === null ? this._tree.nodes : this._waiting;
    for (const record of open) record.tGone = this.end;
  }

  /** @param {Baseline} e */
  _baseline(e) {
    this.baseline = e;
  }

  /** @param {{level: number, round: number, t0: number, t1: number, over?: number} & Pick<Verify, "notes"> &
   *  Partial<Pick<Verify, "work">>} e @param {Partial<Segment> & Pick<Segment, "kind"|"tokensIn"|"tokensOut">} more */
  _segment(e, more) {
    /** @type {Segment} */ const segment = {
      level: e.level,
      t0: e.t0,
      t1: e.over ?? e.t1,
      round: e.round,
      rejected: false,
      rows: e.work?.rows ?? 0,
      ran: e.work?.ran ?? [],
      catchUp: e.work?.catch_up ?? 0,
      probes: e.work?.probes ?? 0,
      theta: e.notes?.threshold?.theta ?? null,
      stale: Boolean(e.notes?.stale),
      ...more,
    };
    this.segments.push(segment);
    const round = this._round(e.round, e.t0);
    round.segments.push(segment);
    round.byLevel[e.level] = (round.byLevel[e.level] ?? 0) + (segment.t1 - e.t0);
    round.t1 = Math.max(round.t1, e.t1);
    return segment;
  }

  _round(/** @type {number} */ index, /** @type {number} */ t) {
    let last = this.rounds[this.rounds.length - 1];
    if (!last || last.round !== index) {
      const byLevel = this.levels.map(() => 0);
      const t0 = Math.max(t, last?.t1 ?? 0); // a draft may have begun while the round before was verified
      last = { round: index, t0, t1: t0, byLevel, tokens: 0, before: [...this._alive], segments: [] };
      this.rounds.push(last);
    }
    return last;
  }

  // --- what holds at a cursor (ns) ---

  /** Tentative records at a cursor, by position. @param {number} cursor */
  aliveAt(cursor) {
    return this.aliveIn(this.rounds[this.roundAt(cursor)], cursor);
  }

  /** How many sequences were, or may be, offered side by side; 0 where there is one at a time. */
  mostRows() {
    const seen = this.trees.reduce((most, x) => Math.max(most, x.rows), 0);
    return Math.max(seen, this._guess > 1 ? this._guess : 0);
  }

  /** The plan that the round under the cursor follows; null where that is the stack as it is written. */
  planAt(/** @type {number} */ cursor) {
    const begins = this.plans[0]?.round === 0 ? this.plans[0] : null;
    return this.plans[upTo(this.plans, cursor, (x) => x.t) - 1] ?? begins;
  }

  /** The levels that a round ran, cheapest first. @param {number} round */
  levelsIn(round) {
    const plan = this.plans[upTo(this.plans, round, (x) => x.round) - 1];
    return plan?.levels ?? this.levels.map((_, i) => i);
  }

  /** The run's figures after each commit. */
  get snapshots() {
    return this.figures.run;
  }

  snapshotAt(/** @type {number} */ cursor) {
    return this.figures.at(cursor);
  }

  kvAt(/** @type {number} */ cursor) {
    return this.kv[upTo(this.kv, cursor, (x) => x.t) - 1] ?? null;
  }

  /** Index of the round under the cursor, -1 before the first. @param {number} cursor */
  roundAt(cursor) {
    return upTo(this.rounds, cursor, (x) => x.t0) - 1;
  }

  markAfter(/** @type {number} */ t) {
    return this.marks[upTo(this.marks, t, (x) => x.t)] ?? null;
  }
}

// ---- The run that is shown: payloads in, a model out. Payloads may come twice or leave gaps; the records are in order.

/** @typedef {{run: string, from: number, ev: TraceRecord[], final: boolean}} Payload */

export class Feed {
  constructor() {
    /** @type {string|null} */ this.run = null;
    /** @type {TraceModel|null} */ this.model = null;
    /** @type {TraceRecord[]} */ this.records = [];
    this.final = false;
  }

  /** Applies a payload that holds events. @param {Payload} payload
   *  @returns {"new"|"grown"|"same"|"gap"} gap: records between those held and these are missing */
  take(payload) {
    const fresh = payload.run !== this.run;
    if (fresh && payload.from > 0) return "gap";
    if (fresh || !this.model) {
      this.run = payload.run;
      this.model = new TraceModel();
      this.records = [];
      this.final = false;
    }
    if (payload.from > this.records.length) return "gap";
    const news = payload.ev.slice(this.records.length - payload.from);
    this.records.push(...news);
    this.model.append(news);
    this.final ||= payload.final;
    return fresh ? "new" : news.length ? "grown" : "same";
  }

  /** The trace as JSON lines, without the page's own pseudo-events. */
  lines() {
    return eventLines(this.records);
  }
}

/** A trace as JSON lines, without the page's own pseudo-events. @param {TraceRecord[]} records */
export function eventLines(records) {
  return records
    .filter((r) => !OWN.has(r.event))
    .map((r) => JSON.stringify(r) + "\n")
    .join("");
}
