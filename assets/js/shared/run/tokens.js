/** The tokens of a run: how each came, what verifiers made of it, and what became of it; and the text that was committed.
 *   Nothing here knows the cursor: a record says when its token was drafted, judged, committed and lost, so what stands
 *   at any moment is a pure function of (records, cursor). Times are ns on the engine's clock. A token is *lost* when a
 *   verifier rejects it, when one before it is lost, or when the run is cut. Where several sequences are offered side by
 *   side they are a *tree*: its tokens stand nowhere in the text until a verifier has kept a path of them. */

import { bytesOf, decode, hex, splitCells, visible } from "./cells.js";
import { fate, grownOn, settle } from "./tree.js";
import { upTo } from "../kit/order.js";

/** @import {Cell} from "./cells.js" @import {Bound, Check, Commit, Draft, Piece, Verify} from "./events.js"
 *  @import {Made, TokenRecord, Tree} from "./records.js" */

const NOTHING = Object.freeze({ bytes: new Uint8Array(0), special: false });

export class Tokens {
  constructor() {
    /** @type {Map<number, {bytes: Uint8Array, special: boolean}>} */ this.pieces = new Map(); // id -> {bytes, special}
    /** @type {Map<number, TokenRecord>} */ this.tokens = new Map(); // serial -> record
    /** @type {number[]} */ this.committed = []; // serials, in order
    /** @type {number[]} */ this.commitTimes = []; // ns, one per committed token
    /** @type {Cell[]} */ this.cells = []; // the committed text, cell by cell
    /** @type {number[]} */ this.cellStarts = []; // the committed position at which each cell begins
    /** @type {TokenRecord[]} */ this.ghosts = []; // records that were rejected, in the order of their loss
    /** @type {Tree[]} */ this.trees = []; // in the order in which they were drafted
    /** @type {number[]} */ this._reach = []; // of the ghosts up to each: the farthest place that one had
    /** @type {Map<number, TokenRecord[]>} */ this._made = new Map(); // by round, in the order of making
    /** @type {TokenRecord[]} */ this._alive = []; // tentative records, by position
    /** @type {TokenRecord[]} */ this._loose = []; // rejected records whose place may still move
    /** @type {Tree|null} */ this._tree = null; // of this round
    /** @type {TokenRecord[]} */ this._waiting = []; // of trees that were judged in part
  }

  // --- what happens to them ---

  /** The bytes of an id. @param {Piece} e */
  _piece(e) {
    this.pieces.set(e.id, { bytes: bytesOf(e.b64), special: !!e.special });
  }

  /** A new token at a position: whatever else stood there, or behind it, is lost. */
  _place(/** @type {Made} */ fields, /** @type {number} */ t) {
    this._lose(fields.at, t, null, null);
    const record = this._record(fields, t);
    this._alive.push(record);
    return record;
  }

  _record(/** @type {Made} */ fields, /** @type {number} */ t) {
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

  /** The tree that a verifier judges: of this round's draft, or what waited. @param {Verify} e */
  _judgedTree(e) {
    if (this._tree?.judged === null) return this._tree;
    if (!e.checks.some((c) => this._waiting.some((x) => x.serial === c.serial))) return null;
    const tree = grownOn(this._waiting, [], [], { ...e, at: Infinity });
    for (const record of this._waiting) record.fork = { tree, parent: record.fork?.parent ?? null };
    this._tree = tree;
    return tree;
  }

  /** A tree is judged: what was kept stands in the text now, all else is gone. */
  _settle(/** @type {Tree} */ tree, /** @type {Verify} */ e) {
    const { rejected, kept, waiting } = settle(tree, e);
    for (const record of rejected) this._haunt(record);
    this._alive.push(...kept);
    this._waiting = waiting;
  }

  /** Everything tentative from position `at` on is lost at t; `head` is the one that was rejected, by `level`.
   *  @param {number} at @param {number} t @param {number|null} level @param {TokenRecord|null} head */
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

  /** A rejected record becomes a ghost. @param {TokenRecord} record */
  _haunt(record) {
    this.ghosts.push(record);
    this._loose.push(record);
    this._reach.push(Math.max(record.at, this._reach.at(-1) ?? 0));
  }

  /** The tokens of a draft, one after the other within its time; those of a tree stand nowhere yet.
   *  @param {Draft} e @param {Tree|null} tree */
  _drafted(e, tree) {
    if (tree) this._lose(e.at, e.t0, null, null);
    const step = (e.t1 - e.t0) / Math.max(1, e.tokens.length);
    // The policy del chooses the depth again in each round.
    const depth = Math.max(0, ...(e.work.ran ?? []).map((span) => span.hi)) || null;
    const before = this._waiting.length;
    if (tree) for (const record of this._waiting) record.fork = { tree, parent: record.fork?.parent ?? null };
    const { copies, lookups, draws } = e.notes ?? {};
    e.tokens.forEach((token, i) => {
      const t = Math.round(e.t0 + step * (i + 1));
      const above = tree ? tree.parents[before + i] : -1;
      const parent = above < 0 ? null : above < before ? this._waiting[above].serial : e.tokens[above - before].serial;
      const fork = tree && { tree, parent };
      const make = tree ? this._record : this._place;
      const record = make.call(
        this,
        {
          serial: token.serial,
          id: token.id,
          at: tree ? tree.end.at + tree.depths[before + i] : e.at + i,
          level: e.level,
          how: "draft",
          source: token.source,
          round: e.round,
          q: token.q,
          confidence: token.confidence ?? null,
          copied: copies?.copied[i] ?? null,
          key: lookups?.keys?.[i] || null,
          draws: draws?.times[i] ?? 1,
          depth,
          fork,
        },
        t,
      );
      tree?.nodes.push(record);
    });
    this._tree = tree;
    if (tree) this.trees.push(tree);
  }

  /** What a verifier said of one token; `bound` is of the place that it was offered for. @param {TokenRecord} record
   *  @param {Check} check @param {Verify} e @param {Bound|null} bound */
  _judge(record, check, e, bound) {
    record.judgements.push({
      level: e.level,
      below: e.below,
      outcome: check.outcome,
      alpha: check.alpha ?? 0,
      coin: check.coin,
      p: check.p,
      q: check.q,
      pRow: check.p_row,
      qRow: check.q_row,
      residual: check.residual,
      t: e.t1,
      round: e.round,
      bound,
    });
    if (check.outcome === "accepted") record.passed.push({ level: e.level, t: e.t1 });
  }

  /** Tokens join the text that stands. @param {Commit} e */
  _write(e) {
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
  }

  // --- what holds at a cursor (ns) ---

  state(/** @type {TokenRecord} */ record, /** @type {number} */ cursor) {
    if (record.tDraft > cursor) return "future";
    if (record.tGone !== null && record.tGone <= cursor) return "gone";
    return record.tCommit !== null && record.tCommit <= cursor ? "committed" : "tentative";
  }

  committedAt(/** @type {number} */ cursor) {
    return upTo(this.commitTimes, cursor, (x) => x);
  }

  /** The records that a round made, in the order of making. @param {number} round */
  tokensOf(round) {
    return this._made.get(round) ?? [];
  }

  /** Tentative records of a round at a cursor, by position. @param {{round: number, before: TokenRecord[]}|undefined} round */
  aliveIn(round, /** @type {number} */ cursor) {
    const found = [];
    for (const record of round ? [...round.before, ...this.tokensOf(round.round)] : []) {
      // A candidate stands nowhere until its tree is judged.
      if (record.how === "draft" && record.fork && fate(record, cursor) === "waiting") continue;
      if (record.tDraft <= cursor && this.state(record, cursor) === "tentative") found.push(record);
    }
    return found.sort((a, b) => a.at - b.at);
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

  /** The candidates of the round under the cursor, or of the last one that had any. @param {number} cursor */
  treeAt(cursor) {
    return this.trees[upTo(this.trees, cursor, (x) => x.t) - 1] ?? null;
  }

  // --- text ---

  piece(/** @type {number} */ id) {
    return this.pieces.get(id) ?? NOTHING;
  }

  /** An id's text, white space made visible; its bytes when it is part of a character; the id when they are unknown. */
  pieceText(/** @type {number} */ id) {
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
export function place(/** @type {TokenRecord} */ record, /** @type {number} */ cursor) {
  let at = record.at;
  for (const move of record.places) if (move.t <= cursor) at = move.at;
  return at;
}

/** Names the place that a token was offered for. @param {TokenRecord|undefined} record */
export const placeOffered = (record) => (record?.fork ? `fork:${record.fork.parent}` : record?.serial);
