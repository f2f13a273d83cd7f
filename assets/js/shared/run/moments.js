/** What happened, one moment after the other, as the caption tells it: a draft, a verdict with the token that followed it
 *  and the commit, a new plan. A moment holds the trace's own events; what comes later about it is added to it. */

import { upTo } from "../kit/order.js";

/** @import {Bonus, Check, Commit, Correct, Draft, Plan, Prefill, Verify} from "./events.js" */

/** @typedef {Correct | Bonus} Own */
/** `own`: the token that the verifier wrote itself; `commit`: of the target's verdict; `silent`: the level that was asked
 *  for a draft just before and had none.
 *  @typedef {{kind: "draft", t: number, index: number, event: Draft}} Drafted
 *  @typedef {{kind: "verify", t: number, index: number, event: Verify, rejected: boolean, own: Own|null,
 *    commit: Commit|null, silent: number|null}} Judged
 *  @typedef {{kind: "plan", t: number, index: number, event: Plan, first: boolean}} Planned
 *  @typedef {{kind: "join", t: number, index: number, event: Prefill}} Joined
 *  @typedef {Drafted | Judged | Planned | Joined} Moment */

export class Moments {
  constructor() {
    /** @type {Moment[]} */ this.list = [];
    /** @type {Prefill[]} */ this.prefills = []; // of the prompt
    /** @type {Judged|null} */ this._verdict = null;
    /** @type {number|null} */ this._silent = null;
    this._planned = false;
  }

  /** The events of a run, in order; those that tell nothing are passed over. @param {any} event */
  add(event) {
    const index = this.list.length;
    switch (event.event) {
      case "prefill":
        if (typeof event.round === "number") this.list.push({ kind: "join", t: event.t1, index, event });
        else this.prefills.push(event);
        break;
      case "plan":
        this.list.push({ kind: "plan", t: event.t, index, event, first: !this._planned });
        this._planned = true;
        break;
      case "draft":
        if (event.notes?.stale) break; // nobody saw it
        if (event.tokens.length) this.list.push({ kind: "draft", t: event.t1, index, event });
        this._silent = event.tokens.length ? null : event.level;
        break;
      case "verify": {
        if (event.notes?.stale) break;
        const rejected = event.checks.some((/** @type {Check} */ c) => c.outcome === "rejected");
        const silent = event.checks.length ? null : this._silent;
        this._verdict = { kind: "verify", t: event.t1, index, event, rejected, own: null, commit: null, silent };
        this.list.push(this._verdict);
        this._silent = null;
        break;
      }
      case "correct":
      case "bonus":
        if (this._verdict && this._verdict.event.level === event.level) this._verdict.own ??= event;
        break;
      case "commit":
        if (this._verdict) this._verdict.commit = event;
    }
  }

  /** The moment under a cursor (ns), null before the first. @param {number} cursor */
  at(cursor) {
    return this.list[upTo(this.list, cursor, (x) => x.t) - 1] ?? null;
  }

  /** The last rejection after one cursor and up to another, null where there is none. @param {number} from @param {number} to */
  rejectedBetween(from, to) {
    for (let i = upTo(this.list, to, (x) => x.t) - 1; i >= 0 && this.list[i].t > from; i--) {
      const one = this.list[i];
      if (one.kind === "verify" && one.rejected) return one;
    }
    return null;
  }
}
