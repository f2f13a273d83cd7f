/** Lookups of a run in the order in which they were made, and what became of their tokens: read from the model once, each
 *  part when it comes, so that a long run costs no more per frame than a short one. */

import { kindOf } from "../../shared/levels/kinds.js";
import { upTo } from "../../shared/kit/order.js";
import { Book, rulesOf } from "./book.js";

/** @import {TokenRecord} from "../../shared/run/records.js"
 *  @import {Segment, TraceModel} from "../../shared/run/trace.js" */

/** `letter`: the database that answered, null: none did. `key`: the tokens of the key (null where the trace does not say).
 *  `at`: where its first token stands in the output; `from`: what that token repeats, counted as `at` is (D_c only). `count`: how many
 *  lookups this stands for (more than one only where sequences are offered side by side and none was answered). `side`: one of several sequences.
 *  @typedef {{n: number, t: number, t0: number, round: number, level: number, letter: string|null, key: number|null,
 *    serials: number[], at: number, from: number|null, count: number, side: boolean}} Lookup
 *  @typedef {{answered: number, offered: number, kept: number}} Share */

const none = () => ({ answered: 0, offered: 0, kept: 0 });

export class Ledger {
  /** @param {TraceModel} model */
  constructor(model) {
    this.model = model;
    // lookups, or a draft with lookups beside it
    this.level = model.levels.findIndex((one) => kindOf(one.kind).origins.length > 0 || one.params?.fuse);
    const params = model.levels[this.level]?.params ?? {};
    this.order = [...new Set(String(params.db ?? ""))].filter((letter) => "cwmse".includes(letter));
    const rules = this.order.includes("c") ? rulesOf(params) : null;
    this.book = rules && new Book(rules);
    this.continuation = rules?.continuation ?? Infinity;
    this.counts = "factor" in params; // suffix decoding: occurrences are counted, nothing is filed under keys
    this.columns = +(params.window ?? 0); // of a lookahead window, whose n-grams have so many tokens
    this.n = +(params.n ?? 0);
    this.kept = +(params.max_continuations ?? 0);
    /** @type {number[][]} */ this.ahead = []; // n-grams that it gave
    /** @type {{t: number, filed: number}[]} */ this.steps = []; // how many until when
    this.prompt = model.header?.prompt_ids ?? [];
    /** @type {Lookup[]} */ this.lookups = [];
    /** @type {{t: number, silent: number, by: Record<string, Share>}[]} */ this.sums = []; // after each draft and commit
    this._segments = 0;
    this._committed = 0;
    this._reports = 0;
    this.counted = false; // whether the trace says what was filed
    this.filed = 0; // as the trace counts it
    this.evicted = 0;
  }

  /** Reads what is new. */
  catchUp() {
    const { model, book } = this;
    if (this.level < 0) return;
    if (book && !book.text.length) for (const id of this.prompt) book.add(id);
    const { segments, commitTimes } = model;
    while (this._segments < segments.length || this._committed < commitTimes.length) {
      const segment = segments[this._segments];
      const t = commitTimes[this._committed] ?? Infinity;
      if (segment && segment.t0 < t) {
        this._segments += 1;
        if (segment.kind === "draft" && segment.level === this.level) this._draft(segment);
      } else this._commit(t);
    }
    for (; this._reports < model.reports.length; this._reports++) {
      const { level, t1, notes } = model.reports[this._reports];
      if (level !== this.level || !notes?.filed) continue;
      const { inserts, evictions, window } = notes.filed;
      this.filed += inserts;
      if (window?.length) this.steps.push({ t: Number(t1), filed: this.ahead.push(...window) });
      this.evicted += evictions;
      this.counted = true;
    }
  }

  /** Whether the filings that the trace counts are those that its text gives; null while it is written. */
  get agrees() {
    const { book, model } = this;
    if (!book || !model.footer || !this.counted) return null;
    return this.filed === book.log.length && this.evicted === /** @type {number} */ (book.evictions.at(-1));
  }

  /** @param {Segment} segment */
  _draft(segment) {
    const { model } = this;
    const records = (segment.serials ?? []).map((serial) => model.tokens.get(serial)).filter((x) => x !== undefined);
    /** @type {Map<number, Lookup>} */ const made = new Map(); // serial -> the lookup that supplied it
    const side = records.some((x) => x.fork);
    records.forEach((record, i) => {
      if (!this.order.includes(record.source)) return; // a nano's, where the databases were silent
      const above = record.fork ? record.fork.parent : (records[i - 1]?.serial ?? null);
      const before = above === null ? undefined : made.get(above);
      const last = above === null ? undefined : model.tokens.get(above);
      if (before && last && this._goesOn(before, last, record)) {
        // A branch of a lookup is one of its own; a line of tokens is one lookup.
        if (before.serials.at(-1) === above) {
          before.serials.push(record.serial);
          made.set(record.serial, before);
          return;
        }
      }
      made.set(record.serial, this._lookup(segment, record, side));
    });
    const silent = segment.silent ?? 0;
    if (silent) {
      const looked = records.filter((x) => made.has(x.serial));
      const at = side ? (records[0]?.at ?? 0) : looked.length ? looked[looked.length - 1].at + 1 : (segment.at ?? 0);
      this.lookups.push({
        ...this._plain(segment, side),
        letter: null,
        key: null,
        serials: [],
        at,
        from: null,
        count: silent,
      });
    }
    const sum = this._sum(segment.t1);
    sum.silent += silent;
    for (const one of new Set(made.values())) {
      const share = sum.by[/** @type {string} */ (one.letter)];
      share.answered += 1;
      share.offered += one.serials.length;
    }
  }

  /** Whether a token came with the one before it out of one lookup: D_c and the window hand out several at once. */
  _goesOn(/** @type {Lookup} */ lookup, /** @type {TokenRecord} */ last, /** @type {TokenRecord} */ record) {
    if (record.source === "w") return lookup.letter === "w" && lookup.serials.length < this.n - 1;
    if (record.source === "e") return lookup.letter === "e" && record.key === lookup.key;
    if (record.source !== "c" || lookup.letter !== "c" || !record.copied || !last.copied) return false;
    if (record.copied.at !== last.copied.at + 1 || record.copied.alike !== last.copied.alike + 1) return false;
    return record.key === null || (record.key === lookup.key && record.copied.alike > record.key);
  }

  _plain(/** @type {Segment} */ segment, /** @type {boolean} */ side) {
    const { t0, t1, round, level } = segment;
    return { n: this.lookups.length, t: t1, t0, round: round ?? -1, level, count: 1, side };
  }

  _lookup(/** @type {Segment} */ segment, /** @type {TokenRecord} */ record, /** @type {boolean} */ side) {
    const one = {
      ...this._plain(segment, side),
      letter: record.source,
      key: record.key ?? null,
      serials: [record.serial],
      at: record.at,
      from: record.copied?.at ?? null,
    };
    this.lookups.push(one);
    return one;
  }

  _commit(/** @type {number} */ t) {
    const sum = this._sum(t);
    while (this.model.commitTimes[this._committed] === t) {
      const record = this.model.tokens.get(this.model.committed[this._committed]);
      this._committed += 1;
      if (!record) continue;
      this.book?.add(record.id);
      if (record.how === "draft" && record.level === this.level && sum.by[record.source])
        sum.by[record.source].kept += 1;
    }
  }

  /** A new sum, that begins with the last one. @param {number} t */
  _sum(t) {
    const last = this.sums.at(-1);
    const by = Object.fromEntries(this.order.map((letter) => [letter, { ...(last?.by[letter] ?? none()) }]));
    const sum = { t, silent: last?.silent ?? 0, by };
    this.sums.push(sum);
    return sum;
  }

  /** The figures at a moment. @param {number} cursor */
  at(cursor) {
    const sum = this.sums[upTo(this.sums, cursor, (x) => x.t) - 1];
    return sum ?? { t: 0, silent: 0, by: Object.fromEntries(this.order.map((letter) => [letter, none()])) };
  }

  /** How many lookups were over at a moment. @param {number} cursor */
  seen(cursor) {
    return upTo(this.lookups, cursor, (x) => x.t);
  }

  /** What stands in the text of D_c from a place on (the prompt's first token is 0), as ids. @param {number} lo @param {number} hi */
  ids(lo, hi) {
    return this.book ? this.book.text.slice(Math.max(0, lo), hi) : [];
  }

  /** The ids of a lookup's key, as they stood when it was made. @param {Lookup} lookup */
  keyOf(lookup) {
    const key = Math.min(lookup.key ?? 0, 16);
    if (lookup.from !== null) {
      const end = this.prompt.length + lookup.from;
      if (this.book) return this.ids(end - key, end);
    }
    const ids = [];
    for (let at = lookup.at - key; at < lookup.at; at++) {
      const id = this._stood(at, lookup);
      if (id !== null) ids.push(id);
    }
    return ids;
  }

  /** What stood at a place when a lookup was made: committed, held by a level, or drafted before it in the same go. */
  _stood(/** @type {number} */ at, /** @type {Lookup} */ lookup) {
    const { model, prompt } = this;
    if (at < 0) return prompt[prompt.length + at] ?? null;
    if (at < model.committedAt(lookup.t0)) return model.tokens.get(model.committed[at])?.id ?? null;
    const first = lookup.serials[0] ?? Infinity;
    const round = model.rounds[upTo(model.rounds, lookup.round, (x) => x.round) - 1];
    if (!round) return null;
    const own = model.tokens.get(first)?.fork ?? null;
    if (own) {
      for (let above = own.parent; above !== null; ) {
        const record = model.tokens.get(above);
        if (!record) break;
        if (record.at === at) return record.id;
        above = record.fork?.parent ?? null;
      }
    }
    /** @type {number|null} */ let found = null;
    for (const record of [...round.before, ...model.tokensOf(lookup.round)]) {
      if (record.at !== at || record.serial >= first || (own && record.fork?.tree === own.tree)) continue;
      if (record.tGone === null || record.tGone > lookup.t0) found = record.id;
    }
    return found;
  }

  /** What became of a lookup's tokens until a moment: how many the verifier above has kept and rejected, how many it never
   *  judged, and how many are part of the text. @param {Lookup} lookup @param {number} cursor */
  fate(lookup, cursor) {
    const fate = { kept: 0, rejected: 0, lost: 0, waiting: 0, committed: 0 };
    for (const serial of lookup.serials) {
      const record = this.model.tokens.get(serial);
      if (!record) continue;
      const first = record.judgements.find((j) => j.t <= cursor);
      const gone = record.tGone !== null && record.tGone <= cursor;
      if (record.tCommit !== null && record.tCommit <= cursor) fate.committed += 1;
      if (first?.outcome === "accepted") fate.kept += 1;
      else if (first?.outcome === "rejected") fate.rejected += 1;
      else if (gone || first) fate.lost += 1;
      else fate.waiting += 1;
    }
    return fate;
  }
}
