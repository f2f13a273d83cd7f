/** One lane of a race: its run's model, on a clock that starts when the prompt is read. */

import { upTo } from "../../kit/order.js";
import { TraceModel } from "../../run/trace.js";
import { NAME } from "../../words/tabs/race.js";

/** @typedef {import("../../visit/feed.js").TraceRecord} TraceRecord */

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

/** What a stack is called: its levels' names, cheapest first. @param {TraceModel} model @param {string} plain */
export function nameOf({ levels, header }, plain) {
  const top = levels[levels.length - 1];
  const copy = top && /@dtype=(\w+)/.exec(header?.stack.split(",").at(-1) ?? "");
  const target = copy ? NAME.targetOf(copy[1]) : NAME.target;
  if (levels.length === 1) return copy ? NAME.plainOf(plain, copy[1]) : plain;
  const rules = [...(header?.stack ?? "").matchAll(/@rule=(\w+)/g)].map((found) => found[1]);
  const name = [...levels.slice(0, -1).map((level) => level.short), target].join(" \u2192 ");
  return rules.length ? NAME.withRules(name, [...new Set(rules)]) : name;
}
