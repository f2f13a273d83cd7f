/** The positions of a run that can be drawn again: verdicts of which both distributions are known. */

import { distributionsOf } from "../../../shared/anatomy/act.js";
import { distance, sideBySide } from "../../../shared/run/distributions.js";
import { limit } from "./draws.js";

/**
 * @typedef {import("../../../shared/run/records.js").TokenRecord} TokenRecord
 * @typedef {import("../../../shared/run/records.js").Judgement} Judgement
 * @typedef {{record: TokenRecord, verdicts: Judgement[]}} Candidate
 */

const LOOKED_AT = 1500; // verdicts, for the first choice

/** @param {import("../../../shared/run/trace.js").TraceModel} model @returns {Candidate[]} by position */
export function candidatesOf(model) {
  const found = [];
  for (const record of model.tokens.values()) {
    const verdicts = record.judgements.filter((j) => j.pRow?.ids.length && j.qRow?.ids.length);
    if (verdicts.length) found.push({ record, verdicts });
  }
  return found.sort((a, b) => a.record.at - b.record.at || a.record.serial - b.record.serial);
}

/**
 * The two distributions of a verdict over the same symbols; `close`: nothing had to be estimated.
 * @param {import("../../../shared/run/trace.js").TraceModel} model @param {TokenRecord} record @param {Judgement} j
 */
export function pairOf(model, record, j) {
  const { p, q, own } = distributionsOf(model, record, j);
  if (!p || !q) return null;
  const always = [record.id, ...(own ? [own.id] : [])].filter((id) => p.probs.has(id));
  return { ...sideBySide(p, q, always), close: p.close && q.close, named: q.certain };
}

/**
 * The verdict at which the wrong rules go furthest astray, both of them.
 * @param {import("../../../shared/run/trace.js").TraceModel} model @param {Candidate[]} candidates
 * @returns {{record: TokenRecord, level: number}|null}
 */
export function telling(model, candidates) {
  /** @type {{record: TokenRecord, level: number}|null} */ let best = null;
  let most = -1;
  let seen = 0;
  for (const { record, verdicts } of candidates)
    for (const j of verdicts) {
      if (seen++ > LOOKED_AT) return best;
      const pair = pairOf(model, record, j);
      if (!pair?.close) continue;
      const off = Math.min(distance(limit(pair, "resample"), pair.p), distance(limit(pair, "looks"), pair.p));
      // Two distributions teach more than a lookup.
      const worth = off * (pair.named ? 0.3 : 1);
      if (worth > most) [most, best] = [worth, { record, level: j.level }];
    }
  return best;
}
