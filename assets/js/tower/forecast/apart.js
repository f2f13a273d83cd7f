/** Why a prediction missed what was measured. A speed-up is tokens a pass of the target over what a round costs, in passes
 *  of plain decoding, so that a miss comes from the one, from the other, or from both. */

const MISS = 0.1; // a prediction that is off by more has its reason said
const SHARE = 0.3; // of the miss: a part that made less of it is not named

/** @typedef {{speedup: number, tokens: number}} Told tokens: of a pass of the target, corrections and bonus included */

/**
 * @param {Told} predicted @param {Told} measured
 * @returns {{tokens: [number, number]|null, cost: [number, number]|null}|null} what differed, predicted and measured: tokens a
 *   pass, and the cost of a round in passes of plain decoding; null where the prediction holds
 */
export function whyApart(predicted, measured) {
  if (Math.abs(predicted.speedup / measured.speedup - 1) <= MISS) return null;
  const cost = (/** @type {Told} */ one) => one.tokens / one.speedup;
  const miss = Math.log(measured.speedup / predicted.speedup);
  const byTokens = Math.log(measured.tokens / predicted.tokens) / miss;
  const byCost = 1 - byTokens; // log speed-up = log tokens - log cost
  return {
    tokens: byTokens >= SHARE ? [predicted.tokens, measured.tokens] : null,
    cost: byCost >= SHARE ? [cost(predicted), cost(measured)] : null,
  };
}
