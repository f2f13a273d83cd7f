/** What is called greedy, here as in the engine (tests/unit/test_sampling.py has the same cases). */

import assert from "node:assert/strict";
import { test } from "node:test";
import { greedy, heatOf, isGreedy } from "../../assets/js/shared/levels/greedy.js";
import { spared } from "../../assets/js/shared/run/spared.js";
import { describe } from "../../assets/js/tabs/explore/title/title.js";
import { distributionOf } from "../../assets/js/shared/run/distributions.js";

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

test("the title never calls a run exact beside which plain decoding wrote another text", () => {
  const header = {
    lossless: true,
    lossless_reason: "greedy",
    sampling: { temperature: 0 },
    levels: [{ label: "tiny", device: "cpu", dtype: "float32" }],
  };
  const said = (/** @type {object} */ more, /** @type {object|null} */ baseline) =>
    describe({ header: { ...header, ...more }, footer: { reason: "length" }, baseline }, { mode: "live" }, {});
  const same = { diverges: false, equal: 4, margin: null };
  const other = { diverges: true, equal: 4, margin: 0.2345 };
  for (const baseline of [null, same]) assert.equal(said({}, baseline).law, "exact");
  const { law, text, tip } = said({}, other);
  assert.equal(law, "");
  assert.match(text, /another text from token 5 on$/);
  assert.match(tip, /two best logits were 0\.23 apart/);
  assert.doesNotMatch(text + tip, /exact/i);
  assert.equal(said({ sampling: { temperature: 1 } }, other).law, "exact", "samples are alike in distribution only");
  assert.equal(said({ lossless: false }, other).law, "lossy");
});

test("what a lossy rule spared is found by its coin, or by a probability of 0, and its price stands in the title", () => {
  const check = (/** @type {any} */ more) => spared({ outcome: "accepted", alpha: 0.25, coin: 0.3, p: 0.1, ...more });
  assert.deepEqual([check({}), check({ coin: 0.2 }), check({ outcome: "rejected" })], [true, false, false]);
  assert.deepEqual([check({ coin: null }), check({ coin: null, alpha: 1, p: 0 })], [false, true]);
  const price = { choices: [1, 2, 3, 4], nats: [0, 1, 2, 3], spared: 1, plain: 0.5 };
  const header = {
    lossless: false,
    lossless_reason: "a rule",
    sampling: {},
    levels: [{ device: "cpu", dtype: "float32" }],
  };
  const model = { header, footer: {}, baseline: null, reports: [{ notes: {} }, { notes: { price } }] };
  const { tip } = describe(/** @type {any} */ (model), { mode: "live" }, /** @type {any} */ ({}));
  assert.match(
    tip,
    /25\u2009% of the tokens are not the target\u2019s own choice; mean surprise 1\.50 nats a token, plain decoding\u2019s text 0\.50/,
  );
});
