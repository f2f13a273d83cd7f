/** What a lossy rule kept, as `spared` of hsd_core/trace/conventions.py says it, and what that cost a run's text. */

import { PRICE } from "../../../text/en/run.js";
import { fixed, precise } from "../../../text/numbers.js";

/** @import {TraceModel} from "./trace.js" @import {TokenRecord} from "./records.js" */

/** Whether a verifier kept a token that an exact rule, with the same coin, would have rejected.
 *  @param {{outcome: string, coin: number|null, alpha: number|null, p: number}} check */
export const spared = ({ outcome, coin, alpha, p }) =>
  outcome === "accepted" && (coin === null ? p === 0 : coin >= (alpha ?? 0));

/** Whether the target spared a token. @param {TokenRecord} record @param {number} top the target's index */
export const sparedByTarget = (record, top) => record.judgements.some((one) => one.level === top && spared(one));

/** The price of a run's text: the share of its tokens that are not the target's own choice, the target's mean surprise at
 *  it and at plain decoding's text (nats a token; null where that was not read); null where the run is exact, or not over.
 *  @param {TraceModel|null|undefined} model */
export function priceOf(model) {
  const price = model?.reports?.find((one) => one.notes?.price)?.notes?.price;
  if (!model || !price?.nats.length) return null;
  const surprise =
    price.nats.reduce((/** @type {number} */ sum, /** @type {number} */ x) => sum + x, 0) / price.nats.length;
  return { share: price.spared / price.nats.length, surprise, plain: price.plain ?? null, choices: price.choices };
}

/** "12 % not the target's own", beside the speed; "" for an exact run. @param {TraceModel|null|undefined} model */
export function shortPrice(model) {
  const price = priceOf(model);
  return price ? PRICE.short(percent(price.share)) : "";
}

/** The price as a sentence; "" for an exact run. @param {TraceModel|null|undefined} model */
export function saidPrice(model) {
  const price = priceOf(model);
  if (!price) return "";
  return PRICE.said(
    percent(price.share),
    fixed(price.surprise, 2),
    price.plain === null ? null : fixed(price.plain, 2),
  );
}

/** A share: "0 %", "0.4 %", "12 %". @param {number} share */
export const percent = (share) =>
  `${share && share < 0.0995 ? precise(100 * share, 2) : Math.round(100 * share)}\u2009%`;
