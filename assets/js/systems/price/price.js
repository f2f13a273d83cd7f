/** What a run that is not exact lost: the share of its tokens that are not the target's own choice, and the target's mean
 *  surprise at its text and at plain decoding's, beside the charts. */

import { bring } from "../index.js";
import { percent, priceOf } from "../../shared/run/spared.js";
import { PRICE } from "../../../text/en/run.js";
import { fixed } from "../../../text/numbers.js";

/** @param {import("../../shared/run/trace.js").TraceModel} model */
function figure(model) {
  const price = priceOf(model);
  if (!price) return null;
  const nats = [price.surprise, price.plain].flatMap((x) => (x === null ? [] : fixed(x, 2)));
  return `${percent(price.share)}, ${nats.join(" / ")} nats`;
}

bring({
  tallies: [{ name: "price", words: PRICE.figure, text: (_, model) => figure(model) }],
  later: [{ tab: "learn", load: () => import("./fates.js") }],
});
