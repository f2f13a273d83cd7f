// Levels that work at the same time, as the page takes them up.

import assert from "node:assert/strict";
import { test } from "node:test";
import { atOnce, meanwhile, strip } from "../../assets/js/systems/lanes/two-lanes.js";
import { clockOf, inVain, lanesOf, lanesUsed, overlaps, taken } from "../../assets/js/shared/levels/overlap.js";
import { CLOCKS, HEADLINE, LANES } from "../../assets/text/en/lanes.js";

const apart = [{ lane: 0 }, { lane: 1 }];

test("levels on one lane work one after another", () => {
  assert.equal(overlaps(null), false);
  assert.equal(overlaps({}), false);
  assert.equal(overlaps({ levels: [{ lane: 0 }, { lane: 0 }] }), false);
  assert.equal(overlaps({ levels: apart }), true);
});

test("whose clock it is has a word, and a machine's own has none", () => {
  assert.equal(clockOf(null), "");
  assert.equal(clockOf({ levels: [{}, {}] }), "");
  assert.equal(clockOf({ levels: apart, reckoned: true }), "reckoned");
  assert.equal(clockOf({ levels: apart, reckoned: false }), "real");
  assert.equal(clockOf({ simulated: "by a profile" }), "simulated");
});

/** Two rounds under PEARL, times as ms: the draft that goes on beside each pass is one of level 0. */
function pearl(levels = apart) {
  const call = (kind, level, round, t0, t1, more = {}) => ({ kind, level, round, t0, t1, tokensOut: 2, ...more });
  const first = [call("draft", 0, 0, 0, 64), call("verify", 1, 0, 0, 48, { rejected: false })];
  const second = [call("draft", 0, 1, 64, 128), call("verify", 1, 1, 64, 112, { rejected: true, fell: 2 })];
  return {
    header: { levels, reckoned: true },
    levels: [{ name: "int4" }, { name: "target" }],
    segments: [call("prefill", 1, null, -50, 0), ...first, ...second],
    rounds: [
      { round: 0, t0: 0, t1: 64, segments: first },
      { round: 1, t0: 64, t1: 128, segments: second },
    ],
  };
}

test("what was drafted while the target verified stands if all was kept, and falls with a rejected one", () => {
  const model = pearl();
  const { level, from, to, drafted, kept, verdict } = meanwhile(model, 0);
  assert.deepEqual(
    { level, from, to, drafted, kept, verdict },
    { ...{ level: 0, from: 0, to: 64, drafted: 2 }, kept: true, verdict: 64 },
  );
  assert.equal(meanwhile(model, 1).kept, false);
  const under = pearl();
  under.segments.push({ kind: "draft", level: 0, round: 1, t0: 50, t1: 70, tokensOut: 1, stale: true });
  assert.equal(meanwhile(under, 0).kept, false, "what was under way at the verdict falls when it is over");
  assert.equal(meanwhile(model, 2), null, "there is no such round");
  assert.equal(meanwhile(model, -1), null);
  assert.equal(meanwhile(pearl([]), 0), null, "one level works after another");
});

test("both lanes are at work where their calls overlap, and calls that touch are one", () => {
  assert.deepEqual(atOnce(pearl()), [
    [0, 48],
    [64, 112],
  ]);
  assert.deepEqual(atOnce(pearl([])), []);
  const model = pearl();
  model.segments.push({ level: 0, round: 1, t0: 112, t1: 120 }, { level: 1, round: 1, t0: 112, t1: 118 });
  assert.deepEqual(atOnce(model).at(-1), [64, 118]);
});

test("in a pipeline every level that drafts on has a lane, and two of three at work are enough", () => {
  const header = { reckoned: true, levels: [{ lane: 0 }, { lane: 1 }, { lane: 2 }] };
  assert.deepEqual([lanesOf(header), lanesUsed(header)], [[0, 1, 2], 3]);
  assert.deepEqual([lanesOf({ levels: [{}, {}] }), lanesUsed({ levels: [{}, {}] })], [[0, 0], 1]);
  const call = (level, t0, t1) => ({ kind: "draft", level, round: 0, t0, t1 });
  const segments = [call(0, 0, 10), call(1, 5, 20), call(0, 15, 30), call(2, 18, 40), call(1, 35, 36)];
  assert.deepEqual(atOnce({ header, segments }), [
    [5, 10],
    [15, 30],
    [35, 36],
  ]);
  assert.equal(LANES.titleOf.reckoned(lanesUsed(header)), "Three lanes, reckoned");
});

test("the strip between the lanes ends where the view does, and with what is known", () => {
  const scale = { a: 0, b: 100, lane: 20, width: 100, x: (t) => t };
  assert.equal(strip(atOnce(pearl()), scale, Infinity), "M0.0 18.5h48.0v3H0.0zM64.0 18.5h36.0v3H64.0z");
  assert.equal(strip(atOnce(pearl()), scale, 60), "M0.0 18.5h48.0v3H0.0z");
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
    for (const said of [
      HEADLINE.rateOf[clock],
      HEADLINE.gainOf[clock],
      LANES.labelOf[clock](2),
      LANES.titleOf[clock](2),
      CLOCKS[clock].name,
    ])
      assert.match(said, new RegExp(clock));
  }
});
