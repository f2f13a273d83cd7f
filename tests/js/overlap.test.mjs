// Levels that work at the same time, as the page takes them up.

import assert from "node:assert/strict";
import { test } from "node:test";
import { inVain, overlaps, taken } from "../../assets/js/levels/overlap.js";
import { HEADLINE, LANES, TALLY } from "../../assets/js/words/play/lanes.js";

test("a run of before says nothing of lanes, and has one", () => {
  assert.equal(overlaps(null), false);
  assert.equal(overlaps({}), false);
  assert.equal(overlaps({ overlap: "none" }), false);
  assert.equal(overlaps({ overlap: "reckoned" }), true);
});

test("a verdict that waited for a draft falls when that is there; its pass was over before", () => {
  assert.deepEqual(taken({ event: "verify", t0: 0, t1: 485 }, 642), { event: "verify", t0: 0, t1: 642, over: 485 });
  assert.deepEqual(taken({ event: "draft", t0: 0, t1: 642 }, 485), { event: "draft", t0: 0, t1: 642, over: 642 });
  assert.deepEqual(taken({ event: "commit", t: 642 }, 700), { event: "commit", t: 642 });
});

test("what was dropped is laid to the drafts that it came from", () => {
  const segments = [{ serials: [0, 1] }, {}, { serials: [2, 3] }, { serials: [4, 5] }];
  inVain(segments, [3, 4, 5]);
  assert.deepEqual(
    segments.map((one) => one.vain),
    [undefined, undefined, 1, 2],
  );
});

test("whose clock it is stands in the headline, in the lanes' title and among the figures", () => {
  for (const clock of ["reckoned", "real"]) {
    for (const said of [HEADLINE.rateOf[clock], HEADLINE.gainOf[clock], LANES.labelOf[clock], TALLY.clocks[clock].said])
      assert.match(said, new RegExp(clock));
    assert.match(TALLY.clocks[clock].tip, /generate --clock real/);
  }
});
