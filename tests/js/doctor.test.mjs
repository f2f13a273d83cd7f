// Claims about the doctor: what its link holds, and what its curve says. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { packed, unpacked } from "../../assets/js/tabs/planner/doctor/doctor-view.js";
import { ofGains, readLength, steps } from "../../assets/js/tabs/planner/doctor/gain-curve.js";

const RUNS = {
  format: "hsd-doctor-runs",
  runs: [{ engine: "vllm", name: "my secret.log", rounds: 43, kept: [4, 3, 3] }],
};

test("a link gives the counts again, and no name of a file", () => {
  const hash = packed({ runs: RUNS, plain: 12.5, kinds: "coding=3.1, chat=2" });
  assert.match(hash, /^#doctor=[\w-]+$/);
  const held = unpacked(hash);
  assert.equal(held?.plain, 12.5);
  assert.equal(held?.kinds, "coding=3.1, chat=2");
  assert.deepEqual(held?.runs.runs, [{ engine: "vllm", rounds: 43, kept: [4, 3, 3] }]);
  const bare = unpacked(packed({ runs: RUNS, plain: null, kinds: "" }));
  assert.deepEqual([bare?.plain, bare?.kinds], [null, ""]);
});

test("what is no such link holds nothing, and a long one is not made", () => {
  for (const hash of [
    "",
    "#run=abc",
    "#doctor=",
    "#doctor=%%%",
    `#doctor=${btoa('{"runs": 3}')}`,
    `#doctor=${btoa("[]")}`,
  ])
    assert.equal(unpacked(hash), null);
  const long = { ...RUNS, runs: Array.from({ length: 2000 }, () => RUNS.runs[0]) };
  assert.equal(packed({ runs: long, plain: null, kinds: "" }), "");
});

const point = (/** @type {any} */ more) => ({
  k: 2,
  ms: 8.5,
  tokens: 2.1,
  speed_up: 1.5,
  low: 1.4,
  high: 1.61,
  assumed: false,
  ...more,
});

test("a length is read with its gain, or its time where plain decoding is not known", () => {
  assert.equal(readLength(point({}), true), "drafts of 2 tokens: 1.5\u00d7 (95 % between 1.4\u00d7 and 1.61\u00d7)");
  assert.equal(readLength(point({ k: 1, low: null }), true), "drafts of 1 token: 1.5\u00d7");
  assert.equal(readLength(point({ k: 0, low: null, speed_up: 1 }), true), "without drafts: 1\u00d7");
  const timed = point({ speed_up: null, low: null, high: null, assumed: true });
  assert.equal(readLength(timed, false), "drafts of 2 tokens: 8.5 ms, assumed: longer than what was run");
  assert.ok(ofGains([point({})]));
  assert.ok(!ofGains([point({}), timed]));
});

test("the steps of an axis are round and hold all values", () => {
  assert.deepEqual(steps(0.73, 1.14), [0.6, 0.8, 1, 1.2]);
  assert.deepEqual(steps(7.8, 12.9), [6, 8, 10, 12, 14]);
  assert.equal(steps(1, 1).length > 0, true);
});
