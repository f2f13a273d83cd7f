/** What is said of a prediction on two clocks names the clock of the run that stands beside it. */

import assert from "node:assert/strict";
import test from "node:test";
import "../app/js/build.mjs"; // declares the kinds
import { dependsOnLength, lengthOf } from "../../assets/js/shared/levels/text-length.js";
import { words } from "../../assets/text/en/forecast.js";

test("a run on another clock is not called reckoned", () => {
  assert.match(words.saidReckoned("1.70×", "1.80×", "reckoned"), /both reckoned/);
  for (const clock of ["real", "measured"]) {
    const said = words.saidReckoned("1.70×", "1.56×", clock);
    assert.ok(said.includes("1.70×, reckoned") && said.endsWith(`1.56×, ${clock}`), said);
  }
});

test("a prediction that depends on the length of the text names it, and says where nothing was measured", () => {
  assert.equal(words.at("1.31×", 3163), "1.31× at 3,163 tokens of text");
  assert.equal(words.at("1.31×", undefined), "1.31×");
  assert.match(words.paysFrom(2310, false), /from 2,310 tokens of text on/);
  assert.match(words.paysFrom(1024, true), /at 1,024 tokens of text already/);
  assert.match(words.extrapolated(9000, 1024, 7500), /^9,000 tokens are extrapolated: 1,024 to 7,500 were measured/);
});

test("only a stack with a view depends on the length, which is that in the middle of the run", () => {
  assert.ok(dependsOnLength("ngram:4,view:6@keep=chunks,target"));
  assert.ok(!dependsOnLength("ngram:4,int8:6,target") && !dependsOnLength("view of it"));
  assert.equal(lengthOf({ prompt_ids: Array(3193).fill(0), max_new_tokens: 49 }), 3193 + 24);
  assert.equal(lengthOf(null), null);
});
