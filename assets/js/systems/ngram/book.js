/** What the context's database D_c holds, written again from the text: the trace says how it is kept, and what is filed
 *  follows from the prompt and the committed tokens (`ContextDatabase` in hsd_core/systems/ngram/context_db.py). An append-only log,
 *  so that any moment of a run can be read from it. */

const MOST = { key: 16, kept: 1000 }; // of a stranger's trace

/** One filing: the token at `at` behind a key of `length` tokens. `was`: where the same token began behind the same key
 *  before (-1: never, or forgotten); `out`: where the continuation began that had to go for it (-1: none).
 *  @typedef {{at: number, length: number, was: number, out: number}} Filing
 *  @typedef {{minKey: number, maxKey: number, kept: number, continuation: number}} Rules */

/** How a level's D_c is kept; null where its trace does not say.
 *  @param {Record<string, any>|undefined} params @returns {Rules|null} */
export function rulesOf(params) {
  const { min_key: minKey, max_key: maxKey } = params?.reach?.c ?? {};
  const [kept, continuation] = [params?.max_continuations, params?.continuation];
  const whole = [minKey, maxKey, kept, continuation].every((x) => Number.isInteger(x) && x >= 1);
  if (!whole || minKey > maxKey || maxKey > MOST.key || kept > MOST.kept || continuation > MOST.kept) return null;
  return { minKey, maxKey, kept, continuation };
}

export class Book {
  /** @param {Rules} rules */
  constructor(rules) {
    this.rules = rules;
    /** @type {number[]} */ this.text = [];
    /** @type {Filing[]} */ this.log = [];
    /** @type {number[]} */ this.ends = [0]; // filings once so many tokens are in the text
    /** @type {number[]} */ this.sizes = [0]; // entries held then
    /** @type {number[]} */ this.evictions = [0]; // entries that had to go until then
    /** @type {Map<string, Map<number, number>>} */ this._index = new Map(); // key -> token -> where it last began
  }

  /** Append a token to the text and file what ends in it. @param {number} id */
  add(id) {
    const { text, rules, _index: index } = this;
    const at = text.length;
    let size = this.sizes[at];
    let gone = this.evictions[at];
    for (let length = rules.minKey; length <= Math.min(rules.maxKey, at); length++) {
      const key = text.slice(at - length).join();
      let kept = index.get(key);
      if (!kept) index.set(key, (kept = new Map()));
      const was = kept.get(id) ?? -1;
      let out = -1;
      kept.delete(id);
      if (was < 0 && kept.size >= rules.kept) {
        const [oldest, began] = /** @type {[number, number]} */ (kept.entries().next().value);
        kept.delete(oldest);
        out = began;
        gone += 1;
        size -= 1;
      }
      kept.set(id, at);
      if (was < 0) size += 1;
      this.log.push({ at, length, was, out });
    }
    text.push(id);
    this.ends.push(this.log.length);
    this.sizes.push(size);
    this.evictions.push(gone);
  }

  /** The entries used last, as they stood when the text had `n` tokens: by where their continuation begins, newest first.
   *  @param {number} n @param {number} most entries
   *  @returns {{at: number, lengths: number[], fresh: number, out: {at: number, length: number}[]}[]} lengths: of the keys
   *    that lead there; fresh: how many of them were filed for the first time; out: what had to go for them */
  newest(n, most) {
    const places = [];
    const dead = new Set(); // filed again later, or gone
    let left = most;
    for (let i = this.ends[n] - 1; i >= 0 && left > 0; ) {
      const { at } = this.log[i];
      /** @type {{at: number, lengths: number[], fresh: number, out: {at: number, length: number}[]}} */
      const place = { at, lengths: [], fresh: 0, out: [] };
      for (; i >= 0 && this.log[i].at === at; i--) {
        const { length, was, out } = this.log[i];
        if (was >= 0) dead.add(`${was} ${length}`);
        if (out >= 0) {
          dead.add(`${out} ${length}`);
          place.out.push({ at: out, length });
        }
        if (dead.has(`${at} ${length}`)) continue;
        place.lengths.unshift(length);
        place.fresh += was < 0 ? 1 : 0;
      }
      if (place.lengths.length || place.out.length) places.push(place);
      left -= place.lengths.length;
    }
    return places;
  }

  /** The last entries that had to go until the text had `n` tokens, newest first. @param {number} n @param {number} most */
  lastOut(n, most) {
    /** @type {{at: number, length: number, by: number}[]} */
    const found = [];
    if (!this.evictions[n]) return found;
    // No further back than needed: each place says how many had gone before it.
    for (let at = n - 1; at >= 0 && found.length < most && this.evictions[at + 1] > 0; at--) {
      if (this.evictions[at + 1] === this.evictions[at]) continue;
      for (let i = this.ends[at + 1] - 1; i >= this.ends[at]; i--)
        if (this.log[i].out >= 0) found.push({ at: this.log[i].out, length: this.log[i].length, by: at });
    }
    return found.slice(0, most);
  }
}
