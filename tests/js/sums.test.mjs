// Claims about what lessons compute: as hsd_core's theory does (tests/sums.json), and as recorded runs did. Run: node --test tests/js

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { placeOf, roundOf, settled } from "../../assets/js/shared/anatomy/round.js";
import { exitWork } from "../../assets/js/systems/exits/cache-picture.js";
import {
  roundsUntil,
  shortest,
  atMost,
  inStep,
  inTurn,
  perStep,
  shortestOf,
  bestLength,
  gained,
  yielded,
  between,
  keptShare,
  outcome,
  residual,
  seeded,
  toss,
  committedByRound,
  costOfToken,
  timeByRows,
  soFar,
  rollOf,
} from "../../assets/js/tabs/learn/figures/sums.js";
import { merged } from "../../assets/js/shared/run/ran.js";
import { modelOf, recorded } from "../app/js/build.mjs";

const CASES = JSON.parse(readFileSync(new URL("../sums.json", import.meta.url), "utf8"));
/** @param {number} a @param {number} b */
const near = (a, b, within = 1e-9) =>
  assert.ok(Math.abs(a - b) <= within * Math.max(1, Math.abs(b)), `${a} is not ${b}`);
/** @param {number[]} a @param {number[]} b */
const alike = (a, b, within = 1e-9) => a.forEach((x, i) => near(x, b[i], within));
/** @param {number[]} list */
const sum = (list) => list.reduce((a, b) => a + b, 0);

test("the yield of a block and its gain are the theory's, and no length gains more than the best", () => {
  for (const { a, n, c, tokens, speed } of CASES.yields) {
    near(yielded(a, n), tokens);
    near(gained(a, n, c), speed);
    const best = bestLength(a, c, 16);
    for (let other = 0; other <= 16; other++) assert.ok(gained(a, best, c) >= gained(a, other, c) - 1e-9);
  }
  assert.equal(bestLength(0.3, 1, 16), 0, "no length pays");
  assert.equal(yielded(1, 4), 5);
});

test("lock step gives what the theory says, and no more than its bound over one level after another", () => {
  for (const { a, g, d, tokens, step, turn, best, best_block } of CASES.steps) {
    alike(
      shortestOf((n) => inStep(a, n, d), 16),
      [best, best_block],
    );
    near(perStep(a, g), tokens);
    near(inStep(a, g, d), step);
    near(inTurn(a, g, d), turn);
    assert.ok(inTurn(a, g, d) / inStep(a, g, d) <= atMost(g * d, 1) + 1e-9);
  }
  assert.equal(perStep(1, 4), 4);
  assert.equal(atMost(3, 3), 2, "never more, and only where both take equally long");
  assert.deepEqual(
    shortestOf((g) => Math.abs(g - 3), 9),
    [0, 3],
  );
  const best = (/** @type {(a: number, g: number, d: number) => number} */ f, /** @type {number} */ d) =>
    shortestOf((g) => f(0.6, g, d), 16)[0];
  assert.ok(best(inStep, 0.05) > best(inTurn, 0.05), "where a draft costs little, in turn is faster");
  assert.ok(best(inStep, 0.3) < best(inTurn, 0.3), "and where it costs much, two lanes are");
});

test("the shortest path over levels and block lengths is the planner's", () => {
  for (const { costs, kept, most, nodes, best } of CASES.hops) {
    const found = shortest(costs, kept, most);
    found.nodes.forEach((ways, i) =>
      alike(
        ways.map((way) => way.ms),
        nodes[i],
      ),
    );
    near(found.best.ms, best);
  }
  const { costs, kept, most } = CASES.hops.at(-1);
  assert.deepEqual(shortest(costs, kept, most).best.path, [{ level: 2, block: 1 }], "the target alone");
  near(roundsUntil(1, 0.5, 3), 1);
});

test("kept drafts and the residual give p, whatever the draft; replacing from p does not", () => {
  for (const { p, q, residual: rest, kept } of CASES.residuals) {
    alike(residual(p, q), rest);
    near(keptShare(p, q), kept);
    alike(outcome(p, q, "residual"), p, 1e-12);
    assert.ok(outcome(p, q, "target").some((x, i) => Math.abs(x - p[i]) > 0.01));
    near(keptShare(p, between(p, q, 0)), 1);
  }
});

test("tosses converge to the exact distribution of their rule", () => {
  const [{ p, q }] = CASES.residuals;
  for (const from of /** @type {const} */ (["residual", "target"])) {
    const random = seeded(1);
    const counts = p.map(() => 0);
    for (let i = 0; i < 20000; i++) counts[toss(p, q, from, random).token] += 1;
    counts.forEach((/** @type {number} */ n, /** @type {number} */ i) =>
      near(n / 20000, outcome(p, q, from)[i], 0.015),
    );
  }
});

test("what an exit and its target compute is what recorded rounds ran, with a bonus and without", () => {
  for (const [name, bonus] of /** @type {[string, boolean][]} */ ([
    ["13-exit-without-bonus", false],
    ["20-exit", true],
  ])) {
    const { segments } = modelOf(recorded(name));
    const [draft, verify] = ["draft", "verify"].map((kind) => segments.find((/** @type {any} */ s) => s.kind === kind));
    const { cells } = exitWork({ layers: 30, at: 8, guesses: 3, bonus });
    const rows = (/** @type {string} */ by, /** @type {number} */ layer) =>
      cells.filter((cell) => cell.by === by && cell.lo <= layer && layer < cell.hi).length;
    const ran = (/** @type {any} */ segment, /** @type {number} */ layer) =>
      sum(merged(segment.ran).map((x) => (x.lo <= layer && layer < x.hi ? x.rows : 0)));
    for (let layer = 0; layer < 30; layer++) {
      assert.equal(rows("exit", layer), ran(draft, layer), `${name} draft ${layer}`);
      assert.equal(rows("target", layer), ran(verify, layer), `${name} verify ${layer}`);
    }
  }
});

test("the roll of a round: each level asks the one below until it holds its block", () => {
  const model = modelOf(recorded("01-code"));
  const lines = rollOf(model, /** @type {any} */ (roundOf(model, 1)));
  const calls = lines.filter((line) => line.what === "verify" && line.level === 1);
  assert.deepEqual([lines[0].what, lines[0].level, lines[0].count, lines[0].depth], ["ask", 2, 6, 0]);
  assert.deepEqual(
    calls.map((line) => line.held),
    [1, 2, 3, 4, 5, 6],
  );
  assert.equal(lines.at(-2)?.what, "up");
  assert.equal(lines.at(-1)?.held, model.rounds[1].tokens);
  for (let i = 1; i < lines.length; i++) assert.ok(lines[i].t1 >= lines[i - 1].t1, "in order");
  const four = modelOf(recorded("09-four-levels"));
  const held = rollOf(four, /** @type {any} */ (roundOf(four, 3))).filter((line) => line.what === "verify");
  assert.equal(held.at(-1)?.held, four.rounds[3].tokens);
});

test("a round so far has no room for what comes later", () => {
  const model = modelOf(recorded("15-nano"));
  const whole = /** @type {any} */ (roundOf(model, 0));
  const drafted = whole.calls[0].segment.t1;
  const part = soFar(whole, settled(model, drafted));
  assert.equal(placeOf(model, drafted), 0);
  assert.deepEqual([part.columns, part.calls.length, part.tokens.length], [2, 1, 0]);
  const all = soFar(whole, model.end);
  assert.deepEqual([all.columns, all.rows, all.tokens.length], [whole.columns, whole.rows, whole.tokens.length]);
});

test("passes, their times by rows and the cost of a token are those of the run", () => {
  const model = modelOf(recorded("05-maths"));
  const rounds = committedByRound(model, model.end);
  for (const { tokens, byLevel } of rounds) assert.equal(sum(byLevel), tokens);
  assert.equal(sum(rounds.map((one) => one.tokens)), model.committed.length);
  assert.equal(committedByRound(model, model.rounds[2].t1).length, 3);
  const times = timeByRows(model);
  assert.ok(times[0].rows === 1 && times.every((one, i) => !i || one.rows > times[i - 1].rows));
  const { levels, plain } = costOfToken(model);
  assert.ok(sum(levels) <= ((model.end - model.rounds[0].t0) / 1e6 / model.committed.length) * 1.001);
  assert.ok(Number(plain) > 0);
});

test("a pass's time by its rows is the median, whatever order the passes came in", () => {
  const pass = (rows, ms, kind = "verify", level = 1) => ({ level, kind, rows, t0: 0, t1: ms * 1e6 });
  const segments = [pass(4, 9), pass(4, 1), pass(4, 5), pass(2, 3), pass(4, 70, "draft"), pass(4, 70, "verify", 0)];
  assert.deepEqual(timeByRows(/** @type {any} */ ({ levels: [{}, {}], segments })), [
    { rows: 2, ms: 3, count: 1 },
    { rows: 4, ms: 5, count: 3 },
  ]);
});

test("behind an exit the target reads the layers above it, with a bonus all of them", () => {
  const round = { layers: 30, at: 8, guesses: 3 };
  assert.deepEqual(exitWork({ ...round, bonus: false }).read, { exit: 24, target: 22 });
  assert.deepEqual(exitWork({ ...round, bonus: true }).read, { exit: 24, target: 30 });
});
