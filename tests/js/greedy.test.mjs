/** What is called greedy, here as in the engine (tests/unit/test_sampling.py has the same cases). */

import assert from "node:assert/strict";
import { test } from "node:test";
import { greedy, heatOf, isGreedy } from "../../assets/js/levels/greedy.js";
import { distributionOf } from "../../assets/js/run/distributions.js";

/** @type {[Record<string, number>, boolean][]} */
const CASES = [
  [{}, true],
  [{ temperature: 0, top_k: 0 }, true],
  [{ temperature: 0, top_k: 5 }, true],
  [{ temperature: 0.8, top_k: 1 }, true],
  [{ temperature: 0.8, top_k: 0 }, false],
  [{ temperature: 0.8, top_k: 2 }, false],
];

test("at temperature 0, or where one token alone is kept, nothing is drawn", () => {
  for (const [sampling, wanted] of CASES) {
    assert.equal(greedy(sampling), wanted);
    assert.equal(isGreedy({ header: { sampling } }), wanted);
    assert.equal(heatOf(sampling), wanted ? 0 : 0.8);
    const row = { ids: [3, 4], probs: [0.6, 0.4], tail: 0 };
    assert.equal(
      distributionOf(row, { temperature: 0.8, ...sampling })?.probs.size === 1,
      greedy({ temperature: 0.8, ...sampling }),
    );
  }
  assert.equal(isGreedy({ header: null }), false, "of no run");
});
