/** What is said of a prediction on two clocks names the clock of the run that stands beside it. */

import assert from "node:assert/strict";
import test from "node:test";
import { words } from "../../assets/js/words/play/forecast.js";

test("a run on another clock is not called reckoned", () => {
  assert.match(words.saidReckoned("1.70×", "1.80×", "reckoned"), /both reckoned/);
  for (const clock of ["real", "measured"]) {
    const said = words.saidReckoned("1.70×", "1.56×", clock);
    assert.ok(said.includes("1.70×, reckoned") && said.endsWith(`1.56×, ${clock}`), said);
  }
});
