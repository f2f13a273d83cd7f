// Claims about drawing one position many times. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { distance } from "../../assets/js/shared/run/distributions.js";
import { expected, limit, pick, RULES, Tally, uniforms } from "../../assets/js/tabs/explore/proof/draws.js";

const PAIR = { ids: [1, 2, 3, null], p: [0.1, 0.5, 0.3, 0.1], q: [0.6, 0.2, 0.1, 0.1] };
const NAMED = { ids: [1, 2], p: [0.3, 0.7], q: [1, 0] };

test("every rule fills towards its own dist, and the right one's is p", () => {
  for (const pair of [PAIR, NAMED]) {
    const tally = new Tally(pair, 7);
    tally.to(40_000);
    for (const rule of RULES)
      assert.ok(distance(tally.shares(rule), limit(pair, rule)) < 0.012, `${rule} ${tally.shares(rule)}`);
    assert.deepEqual(limit(pair, "right"), pair.p);
    for (const wrong of ["resample", "looks"]) assert.ok(distance(limit(pair, wrong), pair.p) > 0.05, wrong);
  }
});

test("where q is p no rule can go wrong", () => {
  const same = { ids: [1, 2], p: [0.4, 0.6], q: [0.4, 0.6] };
  for (const rule of RULES) assert.ok(distance(limit(same, rule), same.p) < 1e-12, rule);
});

test("a thousand draws lie about as far from p as chance says", () => {
  const off = [];
  for (let seed = 0; seed < 200; seed++) {
    const tally = new Tally(PAIR, seed);
    tally.to(1000);
    off.push(tally.off("right"));
  }
  const mean = off.reduce((a, b) => a + b) / off.length;
  assert.ok(Math.abs(mean / expected(PAIR.p, 1000) - 1) < 0.1, `${mean} against ${expected(PAIR.p, 1000)}`);
});

test("the same seed gives the same draws, in one go or in several", () => {
  const [one, other, third] = [new Tally(PAIR, 3), new Tally(PAIR, 3), new Tally(PAIR, 4)];
  one.to(500);
  for (const n of [1, 20, 500]) other.to(n);
  third.to(500);
  assert.deepEqual(one.counts, other.counts);
  assert.notDeepEqual(one.counts, third.counts);
  assert.equal(one.kept / 500 > 0.4 && one.kept / 500 < 0.6, true, "the sum of min(p, q) is 0.5");
});

test("uniform numbers fall between 0 and 1, and a dist is met where its mass lies", () => {
  const next = uniforms(1);
  const many = Array.from({ length: 1000 }, next);
  assert.ok(many.every((u) => u >= 0 && u < 1) && new Set(many).size > 990);
  assert.deepEqual([pick([0, 1, 0], 0), pick([0.5, 0.5, 0], 0.999999), pick([0.5, 0, 0.5], 0.6)], [1, 1, 2]);
});
