// Claims about why a prediction misses. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { whyApart } from "../../assets/js/tabs/explore/tower/forecast/apart.js";
import { words } from "../../assets/text/en/forecast.js";

const PLAIN = 16; // ms a token
const told = (/** @type {number} */ speedup, /** @type {number} */ tokens, plain = PLAIN) => ({
  ...{ speedup, tokens },
  ms: plain / speedup,
});
const causes = (/** @type {any} */ predicted, /** @type {any} */ measured) =>
  whyApart(predicted, measured).map(({ what }) => what);

test("up to a tenth nothing needs a reason", () => {
  assert.deepEqual(whyApart(told(1.7, 6), told(1.8, 6.5)), []);
  assert.deepEqual(whyApart(told(1.09, 4), told(1.0, 3)), []);
});

test("more or fewer tokens a pass, a dearer or cheaper round, or both, with their figures", () => {
  assert.deepEqual(whyApart(told(2, 6), told(1, 3)), [{ what: "tokens", predicted: 6, measured: 3 }]);
  assert.deepEqual(whyApart(told(2, 6), told(1, 6)), [{ what: "cost", predicted: 3, measured: 6 }]);
  assert.deepEqual(causes(told(2, 4), told(1, 4 / Math.SQRT2)).sort(), ["cost", "tokens"]);
});

test("where the machine was slow, that is named, and not that drafts were kept a little more often", () => {
  // On a busy machine plain decoding took twice as long, so the speed-up hardly moved.
  assert.deepEqual(causes(told(1.72, 7.4), told(1.8, 8, 2 * PLAIN)), ["pace"]);
  const said = words.why(whyApart(told(1.72, 7.4), told(1.8, 8, 2 * PLAIN)));
  assert.equal(said, "It missed because the machine was slower: plain decoding took 32.0 ms a token instead of 16.0.");
});

test("the largest cause comes first", () => {
  assert.deepEqual(causes(told(1.66, 7.4), told(2.04, 8)), ["cost", "tokens"]);
  assert.match(words.why(whyApart(told(1.66, 7.4), told(2.04, 8))), /^It missed because a round cost .* and a pass/);
  assert.equal(words.why([]), "");
});
