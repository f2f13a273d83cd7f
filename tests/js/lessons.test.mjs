// Claims about what lessons may name and hide. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { panelsOf } from "../../assets/js/tabs/learn/acts/page-parts.js";
import { hiddenBy, isNear } from "../../assets/js/tabs/learn/question.js";
import { figure, holds } from "../../assets/js/tabs/learn/figures/refs.js";
import { within } from "../../assets/js/tabs/learn/pictures/requests-pictures.js";
import { counterexample } from "../app/js/verdicts.mjs";

const MS = 1e6;

/** A run of Auto: rounds 1 to 3 by its first plan, 2 tokens each, round 4 by its second, 10 tokens. @returns {any} */
function run({ stack = "ngram:2,target", machine = "here", temperature = 0, speed = 20 } = {}) {
  const plan = (/** @type {number} */ round, /** @type {string} */ text, /** @type {number[]} */ blocks) => ({
    round,
    stack: text,
    blocks,
    levels: [0, 1],
    predicted_ms: 9,
  });
  const round = (/** @type {number} */ n, /** @type {number} */ tokens) => ({
    round: n,
    tokens,
    t0: n * 40 * MS,
    t1: (n + 1) * 40 * MS,
  });
  return {
    header: { stack, machine, preset: "smollm2", sampling: { temperature, top_k: 0 } },
    baseline: { token_ns: [100 * MS] }, // 10 tokens/s
    snapshots: [{ tokens_per_s: speed, tokens_per_target_forward: 4 }],
    committed: Array(16).fill(0),
    plans: [plan(0, "ngram:2,target", [2]), plan(3, "ngram:9,target", [9])],
    rounds: [round(0, 2), round(1, 2), round(2, 2), round(3, 10)],
  };
}

const row = (/** @type {string} */ stack, /** @type {number} */ speed_up, /** @type {number[]} */ interval) => ({
  stack,
  speed_up,
  interval,
  plain: "target",
});
const report = (/** @type {string} */ machine, /** @type {any[]} */ ...stacks) => ({
  results: { about: { preset: "smollm2", machine }, stacks },
});
const sources = (/** @type {any} */ model, /** @type {any[]} */ ...reports) => ({
  model,
  reports,
  recordings: new Map(),
});
const said = (/** @type {any} */ from, /** @type {string} */ name, source = "") => figure(from, name, source)?.text;

test("a plan is credited with the rounds that it ran, and not with the whole run", () => {
  const from = sources(run());
  const told = (/** @type {string} */ which) =>
    ["rounds", "tokens", "took"].map((x) => said(from, `plan.${which}.${x}`));
  assert.deepEqual(told("1"), ["3", "6", "20.0\u00a0ms"]);
  assert.deepEqual(told("last"), ["1", "10", "4.00\u00a0ms"]);
  assert.equal(said(from, "plan.last.round"), "4", "counted from 1");
  assert.equal(said(from, "plan.3.rounds"), undefined);
});

test("what a stack gains is the benchmark's where one has it, of the run's machine first", () => {
  const there = report("there", row("ngram:2,target", 0.7, [0.6, 0.8]));
  const here = report("here", row("ngram:2,target", 0.9, [0.8, 1.1]));
  const ends = (/** @type {any} */ from) => ["gain.low", "gain", "gain.high"].map((name) => said(from, name));
  assert.deepEqual(ends(sources(run(), there, here)), ["0.80", "0.90", "1.10"]);
  assert.deepEqual(ends(sources(run(), there)), ["0.60", "0.70", "0.80"]);
  assert.deepEqual(ends(sources(run({ stack: "int8:4,target" }), there)), ["2.00", "2.00", "2.00"], "of the run alone");
  assert.deepEqual(ends(sources(run({ temperature: 0.8 }), here)), ["2.00", "2.00", "2.00"], "benchmarks are greedy");
  assert.match(
    said(sources(run(), there), "gain.said") ?? "",
    /0\.70 .*0\.60 to 0\.80.* there; 2\.00 in this run alone/,
  );
  assert.equal(holds("$gain.high < 1", sources(run(), there)), true);
  assert.equal(holds("$gain.high < 1", sources(null, there)), null, "no run, no verdict");
});

test("two stacks are compared within one benchmark", () => {
  const there = report("there", row("a,target", 3, [2, 4]), row("a,b,target", 2, [1, 3]));
  const here = report("here", row("c,target", 9, [8, 10]));
  assert.equal(said(sources(run(), there, here), "best.3.over.2", "bench"), "0.67");
  assert.equal(said(sources(run(), there, here), "best.2.stack", "bench"), "c,target");
});

test("a question hides the figures that it names, and those of another recording hide nothing", () => {
  const asks = (/** @type {string[]} */ ...whens) => hiddenBy({ choices: whens.map((when) => ({ when })) });
  assert.deepEqual(asks("$gain.low > 1 and $gain >= 1.5", "$gain.low <= 1"), ["speed"]);
  assert.deepEqual(asks("${bench|best.3.over.2} < 1"), ["speed"]);
  assert.deepEqual(asks("${01-code|beside} > 1.1"), ["speed"]);
  assert.deepEqual(asks("$round.1.tokens = 2"), []);
  assert.deepEqual(hiddenBy({ number: { answer: "$per_forward" } }), ["per-pass"]);
  assert.deepEqual(hiddenBy({ number: { answer: "${06-chat-sampled|acceptance.Q}" } }), []);
  assert.deepEqual(hiddenBy({ choices: [{ right: true }], hides: ["exactness"] }), ["exactness"]);
});

test("conditions that leave a gap, or overlap, are found", () => {
  const open = (/** @type {string[]} */ ...whens) => counterexample({ choices: whens.map((when) => ({ when })) });
  assert.equal(open("$speedup < 1", "$speedup >= 1"), null);
  assert.match(open("$speedup < 1", "$speedup > 1") ?? "", /^0 choices are right where .*,1\]/);
  assert.match(open("$speedup <= 1", "$speedup >= 1") ?? "", /^2 choices/);
  assert.equal(
    open("$gain.low > 1", "$gain.low <= 1 and $gain.high >= 1", "$gain.high < 1"),
    null,
    "low is below high",
  );
});

test("a lesson opens the panels of the first screen that hold what it lights", () => {
  assert.deepEqual(panelsOf(["headline", "tokens", "level-Q"]), []);
  assert.deepEqual(panelsOf(["lanes", "kept", "block-Q"]), ["time", "stack"]);
});

test("an estimate on the wrong side of what the step states is not close", () => {
  assert.ok(isNear(2.5, 2.7, 0.3, 2.3));
  assert.ok(!isNear(2, 2.7, 0.3, 2.3), "it said that trees give fewer tokens, and they give more");
  assert.ok(isNear(2, 2.7, 0.3), "nothing was stated");
  assert.ok(!isNear(1, 2.7, 0.3));
});

test("figures of many requests are of the passes and gains that were measured, and say where none were", () => {
  const row = (/** @type {number} */ load, /** @type {number} */ speed_up) => ({
    ...{ stack: "ngram:3,target", load, speed_up, interval: [speed_up - 0.1, speed_up + 0.1] },
  });
  const machine = (/** @type {number} */ twice) => ({ name: "", computed: false, rows: [1], times: [1], twice });
  const requests = /** @type {any} */ ({
    ...{ about: { machine: "here" }, loads: [1, 32], rows: [1, 4], map: {}, measured: true },
    pass_ms: [
      [20, 21],
      [100, 190],
    ],
    gains: [row(1, 2), row(32, 0.7)],
    machines: [machine(10), machine(590), machine(6)],
  });
  const from = { ...sources(null), requests };
  const told = (/** @type {string} */ name) => said(from, name, "requests");
  assert.deepEqual(["times.1.4", "times.32.4", "rows.32.4", "crowd.32"].map(told), ["1.05", "1.90", "128", "5.00"]);
  assert.deepEqual(["twice.here", "twice.h100", "twice.phone"].map(told), ["10", "590", "6"]);
  assert.equal(told("said.32"), "0.70 times (0.60 to 0.80, measured)");
  assert.equal(told("gain.8"), undefined, "no such load");
  requests.measured = false;
  assert.equal(told("said.32"), "0.70 times (predicted)");
  assert.equal(holds("${requests|high.32} < 0.98", from), true);
  assert.equal(figure(sources(null), "gain.32", "requests"), null, "none are shipped");
});

test("a curve ends where it leaves its picture", () => {
  assert.deepEqual(within([1, 2, 4], [1, 1, 2]), [
    [1, 1],
    [2, 1],
    [4, 2],
  ]);
  const cut = within([1, 16, 64], [1, 5, 13]);
  assert.equal(cut.length, 3);
  assert.deepEqual(cut[2].map(Math.round), [32, 9]);
});
