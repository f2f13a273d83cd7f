/** The client's model of a run: events in, token records with times out.
 *
 *  Nothing here knows the cursor: a record says when its token was drafted, judged, committed and lost, so what
 *  the page shows at any moment is a pure function of (model, cursor), live and in replay. Times are ns on the
 *  engine's clock. A token is *lost* when a verifier rejects it, when one before it is lost, or when the run is cut.
 *  Where several sequences are offered side by side they are a *comb*: its tokens stand nowhere in the text until a
 *  verifier has kept a path of them.
 */

import { bytesOf, decode, hex, splitCells, visible } from "./cells.js";
import { combOf, fate, settle } from "./comb.js";
import { Figures } from "./figures.js";
import { styleLevels } from "./kinds.js";
import { Moments } from "./moments.js";
import { upTo } from "./order.js";

export { upTo };

const NOTHING = Object.freeze({ bytes: new Uint8Array(0), special: false });

/** @typedef {import("./events.js").LevelInfo & import("./kinds.js").Look} Level */
/**
 * @typedef {{level: number, below: number|null, outcome: string, alpha: number, coin: number|null, p: number,
 *   q: number, pRow: ?Row, qRow: ?Row, residual: ?Row, t: number, round: number, bound: ?import("./events.js").Bound}} Judgement
 *   bound: of the place that it was offered for
 */
/** @typedef {import("./events.js").Row} Row */
/**
 * A token that any level drafted or drew. Times are ns; null: not (yet).
 * @typedef {{serial: number, id: number, at: number, level: number, how: string, source: string, round: number,
 *   q: number|null, confidence: number|null, copied?: import("./events.js").Copied|null, key?: number|null, depth?: number|null, draws?: number,
 *   drawn?: {p: number, pRow: ?Row}, tDraft: number, tCommit: number|null, tGone: number|null, goneBy: number|null,
 *   lostWith: number|null, judgements: Judgement[], passed: {level: number, t: number}[], followers: TokenRecord[],
 *   places: {t: number, at: number}[], fork?: import("./comb.js").Fork|null, insteadOf?: number|null}} TokenRecord
 */
/**
 * `before`: what was tentative when it began.
 * @typedef {{round: number, t0: number, t1: number, byLevel: number[], tokens: number, before: TokenRecord[],
 *   segments: Segment[]}} Round
 */
/**
 * @typedef {{kind: string, level: number, round: number|null, t0: number, t1: number, rows: number, tokensIn: number,
 *   tokensOut: number, rejected?: boolean, rejects?: number, sequences?: number, ran?: import("./events.js").Span[],
 *   catchUp?: number, probes?: number, theta?: number|null, at?: number, serials?: number[], silent?: number}} Segment
 */

export class TraceModel {
  constructor() {
    /** @type {import("./events.js").Header|null} */ this.header = null;
    /** @type {import("./events.js").Footer|null} */ this.footer = null;
    /** @type {import("./events.js").Baseline|null} */ this.baseline = null;
    /** @type {import("./events.js").Depths|null} */ this.depths = null; // when it was measured
    /** @type {Level[]} */ this.levels = []; // header.levels with their looks
    /** @type {Map<number, {bytes: Uint8Array, special: boolean}>} */ this.pieces = new Map(); // id -> {bytes, special}
    /** @type {Map<number, TokenRecord>} */ this.tokens = new Map(); // serial -> record
    /** @type {number[]} */ this.committed = []; // serials, in order
    /** @type {number[]} */ this.commitTimes = []; // ns, one per committed token
    /** @type {import("./cells.js").Cell[]} */ this.cells = []; // the committed text, cell by cell
    /** @type {number[]} */ this.cellStarts = []; // the committed position at which each cell begins
    /** @type {Round[]} */ this.rounds = [];
    /** @type {import("./events.js").Plan[]} */ this.plans = []; // where the run chose its levels anew
    /** @type {Segment[]} */ this.segments = [];
    this.figures = new Figures();
    this.moments = new Moments();
    /** @type {{t: number, kind: string, round: number, level: number}[]} */ this.marks = []; // where stepping stops
    /** @type {import("./events.js").Kv[]} */ this.kv = [];
    /** @type {import("./events.js").Store[]} */ this.stores = []; // what n-gram databases counted
    /** @type {TokenRecord[]} */ this.ghosts = []; // records that were rejected, in the order of their loss
    /** @type {number[]} */ this._reach = []; // of the ghosts up to each: the farthest place that one had
    /** @type {import("./comb.js").Comb[]} */ this.combs = []; // in the order in which they were drafted
    this._guess = 1; // sequences that the bottom level may offer
    this.end = 0; // last ns seen
    this.version = 0; // grows with every append
    /** @type {Map<number, TokenRecord[]>} */ this._made = new Map(); // by round, in the order of making
    /** @type {TokenRecord[]} */ this._alive = []; // tentative records, by position
    /** @type {TokenRecord[]} */ this._loose = []; // rejected records whose place may still move
    /** @type {import("./comb.js").Comb|null} */ this._comb = null; // of this round
    /** @type {Segment|null} */ this._open = null; // of the last verifier: its correction or bonus belongs to it
  }

  /** Feeds events, in order, each once. Unknown events are skipped. */
  append(events) {
    for (const event of events) {
      this["_" + event.event]?.(event);
      this.moments.add(event);
      this.end = Math.max(this.end, event.t1 ?? event.t ?? 0);
    }
    if (events.length) this.version += 1;
  }

  /** @param {import("./events.js").Header} e */
  _header(e) {
    this.header = e;
    const looks = styleLevels(e.levels);
    this.levels = e.levels.map((info, i) => ({ ...info, ...looks[i] }));
    const { guess, tree, fuse } = e.levels[0]?.params ?? {};
    const leaves = tree
      ? String(tree)
          .split(".")
          .reduce((n, part) => n * Number(part), 1)
      : Number(guess);
    this._guess = Math.min(64, (leaves || 1) + (Number(fuse) || 0));
  }

  /** @param {import("./events.js").Piece} e */
  _piece(e) {
    this.pieces.set(e.id, { bytes: bytesOf(e.b64), special: !!e.special });
  }

  /** @param {import("./events.js").Prefill} e */
  _prefill(e) {
    const work = { kind: "prefill", rows: e.tokens, tokensIn: e.tokens, tokensOut: 0 };
    if (typeof e.round === "number")
      this._segment(e, work); // a level that joins: time of that round
    else this.segments.push({ ...work, level: e.level, t0: e.t0, t1: e.t1, round: null });
  }

  /** @param {import("./events.js").Plan} e */
  _plan(e) {
    if (!e.levels?.length) return; // written by an older version: it names the stack alone
    this.plans.push(e);
    this.marks.push({ t: e.t, kind: "plan", round: e.round, level: this.levels.length - 1 });
  }

  /** @param {import("./events.js").Draft} e */
  _draft(e) {
    const { at, serials, silent } = e;
    const work = { kind: "draft", rows: e.rows, tokensIn: 0, tokensOut: e.ids.length };
    const segment = this._segment(e, { ...work, at, serials, silent: silent ?? 0 });
    const comb = combOf(e, this._guess > 1);
    if (comb) segment.sequences = comb.rows;
    if (comb) this._lose(e.at, e.t0, null, null);
    const step = (e.t1 - e.t0) / Math.max(1, e.ids.length);
    // The policy del chooses the depth anew in each round.
    const depth = Math.max(0, ...(e.ran ?? []).map((span) => span.hi)) || null;
    e.serials.forEach((serial, i) => {
      const t = Math.round(e.t0 + step * (i + 1));
      const fork = comb && { comb, parent: comb.parents[i] < 0 ? null : e.serials[comb.parents[i]] };
      const make = comb ? this._record : this._place;
      const record = make.call(
        this,
        {
          serial,
          id: e.ids[i],
          at: e.at + (comb ? comb.depths[i] : i),
          level: e.level,
          how: "draft",
          source: e.sources[i] ?? "",
          round: e.round,
          q: e.q[i] ?? null,
          confidence: e.confidence[i] ?? null,
          copied: e.copied?.[i] ?? null,
          key: e.keys?.[i] || null,
          draws: e.draws?.[i] ?? 1,
          depth,
          fork,
        },
        t,
      );
      comb?.nodes.push(record);
    });
    this._comb = comb;
    if (comb) this.combs.push(comb);
    if (e.ids.length) this.marks.push({ t: e.t1, kind: "draft", round: e.round, level: e.level });
  }

  /** @param {import("./events.js").Verify} e */
  _verify(e) {
    const kept = e.checks.filter((c) => c.outcome === "accepted").length;
    const comb = this._comb && this._comb.judged === null ? this._comb : null;
    const segment = this._segment(e, { kind: "verify", rows: e.rows, tokensIn: e.checks.length, tokensOut: kept });
    const bounds = new Map((e.bounds ?? []).map((bound) => [placeName(this.tokens.get(bound.first)), bound]));
    for (const c of e.checks) {
      const record = this.tokens.get(c.serial);
      if (!record) continue;
      record.judgements.push({
        level: e.level,
        below: e.below ?? null,
        outcome: c.outcome,
        alpha: c.alpha ?? 0,
        coin: c.coin,
        p: c.p,
        q: c.q,
        pRow: c.p_row ?? null,
        qRow: c.q_row ?? null,
        residual: c.residual ?? null,
        t: e.t1,
        round: e.round,
        bound: bounds.get(placeName(record)) ?? null,
      });
      if (c.outcome === "accepted") record.passed.push({ level: e.level, t: e.t1 });
      if (c.outcome === "rejected") {
        segment.rejected = true;
        segment.rejects = (segment.rejects ?? 0) + 1;
        if (!comb) this._lose(record.at, e.t1, e.level, record);
      }
    }
    if (comb) this._settle(comb, e);
    this.marks.push({ t: e.t1, kind: segment.rejected ? "reject" : "verify", round: e.round, level: e.level });
    this._open = segment;
  }

  /** @param {import("./events.js").Correct} e */
  _correct(e) {
    this._extra(e, "correct");
  }

  /** @param {import("./events.js").Bonus} e */
  _bonus(e) {
    this._extra(e, "bonus");
  }

  /** @param {import("./events.js").Correct | import("./events.js").Bonus} e @param {string} how */
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
    record.drawn = { p: e.p, pRow: e.p_row ?? null };
    const comb = this._comb;
    if (comb?.judged?.level === e.level && comb.end.at === e.at) record.fork = { comb, parent: comb.end.parent };
    const own = this._open;
    if (own && own.level === e.level && own.round === e.round) own.tokensOut += 1;
  }

  /** @param {import("./events.js").Commit} e */
  _commit(e) {
    this._comb = null;
    e.tokens.forEach((token, i) => {
      const at = e.at + i;
      const record =
        this.tokens.get(token.serial) ??
        this._place({ ...token, at, round: e.round, q: null, confidence: null, passed: [] }, e.t);
      Object.assign(record, {
        tCommit: e.t,
        at,
        level: token.level,
        how: token.how,
        source: token.source || record.source,
      });
      const known = new Set(record.passed.map((x) => x.level));
      for (const level of token.passed) if (!known.has(level)) record.passed.push({ level, t: e.t });
      this.committed.push(token.serial);
      this.commitTimes.push(e.t);
      if (this._alive[0] === record) this._alive.shift();
      else this._alive = this._alive.filter((x) => x !== record);
      splitCells([record], (id) => this.piece(id), this.cells);
      if (this.cellStarts.length < this.cells.length) this.cellStarts.push(this.committed.length - 1);
    });
    this._loose = this._loose.filter((x) => place(x, Infinity) >= this.committed.length);
    const round = this._round(e.round, e.t);
    Object.assign(round, { t1: e.t, tokens: round.tokens + e.tokens.length });
    this.marks.push({ t: e.t, kind: "commit", round: e.round, level: this.levels.length - 1 });
  }

  /** @param {import("./events.js").Kv} e */
  _kv(e) {
    this.kv.push(e);
  }

  /** @param {import("./events.js").Store} e */
  _store(e) {
    this.stores.push(e);
  }

  /** @param {import("./figures.js").Snapshot} e */
  _snapshot(e) {
    this.figures.add(e);
  }

  /** @param {import("./figures.js").Gauge} e */
  _gauge(e) {
    this.figures.add(e);
  }

  /** @param {import("./events.js").Footer} e */
  _footer(e) {
    this.footer = e;
    if (this._alive.length) this._lose(this._alive[0].at, this.end, null, null);
    if (this._comb?.judged === null) for (const record of this._comb.nodes) record.tGone = this.end;
  }

  /** @param {import("./events.js").Baseline} e */
  _baseline(e) {
    this.baseline = e;
  }

  /** @param {import("./events.js").Depths} e */
  _depths(e) {
    this.depths = e;
  }

  /** A new token at a position: whatever else stood there, or behind it, is lost. */
  _place(fields, t) {
    this._lose(fields.at, t, null, null);
    const record = this._record(fields, t);
    this._alive.push(record);
    return record;
  }

  _record(fields, t) {
    const record = {
      ...fields,
      tDraft: t,
      tCommit: null,
      tGone: null,
      goneBy: null,
      lostWith: null,
      judgements: [],
      passed: [],
      followers: [],
      places: [],
    };
    this.tokens.set(record.serial, record);
    const made = this._made.get(record.round);
    made ? made.push(record) : this._made.set(record.round, [record]);
    return record;
  }

  /** A comb is judged: what was kept stands in the text now, all else is gone. */
  _settle(comb, e) {
    for (const record of settle(comb, e)) this._haunt(record);
    this._alive.push(...comb.nodes.filter((record) => record.tGone === null));
  }

  /** Everything tentative from position `at` on is lost at t; `head` is the one that was rejected, by `level`. */
  _lose(at, t, level, head) {
    const cut = this._alive.findIndex((x) => x.at >= at);
    if (cut < 0) return;
    for (const record of this._alive.splice(cut)) {
      record.tGone = t;
      if (record === head) record.goneBy = level;
      else if (head) {
        record.lostWith = head.serial;
        head.followers.push(record);
      }
    }
    for (const ghost of this._loose) if (place(ghost, Infinity) > at) ghost.places.push({ t, at });
    if (head) this._haunt(head);
  }

  /** A rejected record becomes a ghost. */
  _haunt(record) {
    this.ghosts.push(record);
    this._loose.push(record);
    this._reach.push(Math.max(record.at, this._reach.at(-1) ?? 0));
  }

  _segment(e, more) {
    const segment = {
      level: e.level,
      t0: e.t0,
      t1: e.t1,
      round: e.round,
      rejected: false,
      ran: e.ran ?? [],
      catchUp: e.catch_up,
      probes: e.probes ?? 0,
      theta: e.theta ?? null,
      ...more,
    };
    this.segments.push(segment);
    const round = this._round(e.round, e.t0);
    round.segments.push(segment);
    round.byLevel[e.level] = (round.byLevel[e.level] ?? 0) + (e.t1 - e.t0);
    round.t1 = Math.max(round.t1, e.t1);
    return segment;
  }

  _round(index, t) {
    let last = this.rounds[this.rounds.length - 1];
    if (!last || last.round !== index) {
      const byLevel = this.levels.map(() => 0);
      last = { round: index, t0: t, t1: t, byLevel, tokens: 0, before: [...this._alive], segments: [] };
      this.rounds.push(last);
    }
    return last;
  }

  // --- what holds at a cursor (ns) ---

  state(record, cursor) {
    if (record.tDraft > cursor) return "future";
    if (record.tGone !== null && record.tGone <= cursor) return "gone";
    return record.tCommit !== null && record.tCommit <= cursor ? "committed" : "tentative";
  }

  committedAt(cursor) {
    return upTo(this.commitTimes, cursor, (x) => x);
  }

  /** The records that a round made, in the order of making. */
  tokensOf(round) {
    return this._made.get(round) ?? [];
  }

  /** Tentative records at a cursor, by position. */
  aliveAt(cursor) {
    const found = [];
    const round = this.rounds[this.roundAt(cursor)];
    for (const record of round ? [...round.before, ...this.tokensOf(round.round)] : []) {
      // A candidate stands nowhere until its comb is judged.
      if (record.how === "draft" && record.fork && fate(record, cursor) === "waiting") continue;
      if (record.tDraft <= cursor && this.state(record, cursor) === "tentative") found.push(record);
    }
    return found.sort((a, b) => a.at - b.at);
  }

  /** How many sequences were, or may be, offered side by side; 0 where there is one at a time. */
  mostRows() {
    const seen = this.combs.reduce((most, x) => Math.max(most, x.rows), 0);
    return Math.max(seen, this._guess > 1 ? this._guess : 0);
  }

  /** Ghosts that stand at a place or behind it at a cursor, the oldest first: [place, record]. @param {number} cursor @param {number} from */
  ghostsFrom(cursor, from) {
    /** @type {[number, TokenRecord][]} */ const found = [];
    const count = upTo(this.ghosts, cursor, (x) => x.tGone ?? Infinity);
    for (let i = count - 1; i >= 0 && this._reach[i] >= from; i--) {
      const at = place(this.ghosts[i], cursor);
      if (at >= from) found.push([at, this.ghosts[i]]);
    }
    return found.reverse();
  }

  /** The candidates of the round under the cursor, or of the last one that had any. */
  combAt(cursor) {
    return this.combs[upTo(this.combs, cursor, (x) => x.t) - 1] ?? null;
  }

  /** The plan that the round under the cursor follows; null where the run has one plan from end to end. */
  planAt(cursor) {
    return this.plans[upTo(this.plans, cursor, (x) => x.t) - 1] ?? this.plans[0] ?? null;
  }

  /** The levels that a round ran, cheapest first. */
  levelsIn(round) {
    const plan = this.plans[upTo(this.plans, round, (x) => x.round) - 1];
    return plan?.levels ?? this.levels.map((_, i) => i);
  }

  /** The run's figures after each commit. */
  get snapshots() {
    return this.figures.run;
  }

  snapshotAt(cursor) {
    return this.figures.at(cursor);
  }

  kvAt(cursor) {
    return this.kv[upTo(this.kv, cursor, (x) => x.t) - 1] ?? null;
  }

  /** Index of the round under the cursor, -1 before the first. */
  roundAt(cursor) {
    return upTo(this.rounds, cursor, (x) => x.t0) - 1;
  }

  markAfter(t) {
    return this.marks[upTo(this.marks, t, (x) => x.t)] ?? null;
  }

  // --- text ---

  piece(id) {
    return this.pieces.get(id) ?? NOTHING;
  }

  /** An id's text, white space made visible; its bytes when it is part of a character; the id when they are unknown. */
  pieceText(id) {
    if (!this.pieces.has(id)) return `#${id}`;
    const { bytes } = this.piece(id);
    const text = decode(bytes);
    return text.includes("\ufffd") ? hex(bytes) : visible(text);
  }

  /** The first n committed tokens as plain text, special tokens left out. */
  text(n = this.committed.length) {
    let seen = 0;
    let out = "";
    for (const cell of this.cells) {
      seen += cell.serials.length;
      if (seen > n) break;
      if (!cell.special) out += cell.text;
    }
    return out;
  }
}

/** Where a rejected token is shown at a cursor: its own place, or where the text was cut before it since. */
export function place(record, cursor) {
  let at = record.at;
  for (const move of record.places) if (move.t <= cursor) at = move.at;
  return at;
}

/** Names the place that a token was offered for. @param {TokenRecord|undefined} record */
const placeName = (record) => (record?.fork ? `fork:${record.fork.parent}` : record?.serial);
