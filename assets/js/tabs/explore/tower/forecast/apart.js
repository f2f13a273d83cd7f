/** Why a prediction missed what was measured. The ms of a token are those of plain decoding, times what a round costs in passes
 *  of plain decoding, over the tokens of a pass of the target: a miss comes from one of the three, or from several. */

const MISS = 0.1; // a prediction that is off by more has its reason said
const SHARE = 0.5; // of the largest cause: what is smaller is not named

/** @typedef {{ms: number, speedup: number, tokens: number}} Told ms: of a token; tokens: of a pass of the target, corrections
 *    and bonus included */
/** @typedef {{what: "pace"|"tokens"|"cost", predicted: number, measured: number}} Cause pace: ms of a token of plain decoding;
 *    tokens: of a pass; cost: of a round, in passes of plain decoding */

/** @param {Told} predicted @param {Told} measured
 *  @returns {Cause[]} what differed and made the miss, the largest first; empty where the prediction holds */
export function whyApart(predicted, measured) {
  const off = (/** @type {"ms"|"speedup"} */ of) => Math.abs(predicted[of] / measured[of] - 1);
  if (off("ms") <= MISS && off("speedup") <= MISS) return [];
  const part = (/** @type {Cause["what"]} */ what, /** @type {(one: Told) => number} */ read) => ({
    ...{ what, predicted: read(predicted), measured: read(measured) },
    size: Math.abs(Math.log(read(measured) / read(predicted))),
  });
  const causes = [
    part("pace", (one) => one.ms * one.speedup),
    part("tokens", (one) => one.tokens),
    part("cost", (one) => one.tokens / one.speedup),
  ].sort((a, b) => b.size - a.size);
  return causes.filter(({ size }) => size >= SHARE * causes[0].size).map(({ size: _, ...cause }) => cause);
}
