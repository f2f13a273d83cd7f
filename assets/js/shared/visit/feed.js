/** The run that is shown: payloads in, a model out. Payloads may come twice or leave gaps; the records are in order. */

import { OWN } from "../run/figures.js";
import { TraceModel } from "../run/trace.js";

/** @typedef {import("../run/figures.js").TraceRecord} TraceRecord */
/** @typedef {import("./session.js").Payload & {ev: TraceRecord[]}} Payload */

export class Feed {
  constructor() {
    /** @type {string|null} */ this.run = null;
    /** @type {TraceModel|null} */ this.model = null;
    /** @type {TraceRecord[]} */ this.records = [];
    this.final = false;
  }

  /**
   * Applies a payload that holds events.
   * @param {Payload} payload
   * @returns {"new"|"grown"|"same"|"gap"} gap: records between those held and these are missing
   */
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
