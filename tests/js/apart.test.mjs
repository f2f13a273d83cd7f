// Claims about why a prediction misses. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { whyApart } from "../../assets/js/tower/forecast/apart.js";

const told = (/** @type {number} */ speedup, /** @type {number} */ tokens) => ({ speedup, tokens });

test("up to a tenth nothing needs a reason", () => {
  assert.equal(whyApart(told(1.7, 6), told(1.8, 6.5)), null);
  assert.equal(whyApart(told(1.09, 4), told(1.0, 3)), null);
});

test("more or fewer tokens a pass, a dearer or cheaper round, or both", () => {
  const [six, two] = [6, 2];
  assert.deepEqual(whyApart(told(2, six), told(1, six / 2)), { tokens: [6, 3], cost: null });
  assert.deepEqual(whyApart(told(2, six), told(1, six)), { tokens: null, cost: [3, 6] });
  const both = whyApart(told(2, 4), told(1, 4 / Math.SQRT2));
  assert.ok(both?.tokens && both.cost);
  assert.deepEqual(whyApart(told(1, two), told(2, 2 * two)), { tokens: [2, 4], cost: null });
});

test("what worked against the miss is not its reason", () => {
  // Fewer tokens, and a round so much cheaper that it was faster all the same.
  assert.deepEqual(whyApart(told(1, 6), told(1.5, 4.5)), { tokens: null, cost: [6, 3] });
});
