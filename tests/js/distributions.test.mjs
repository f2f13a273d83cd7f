// Claims about distributions that are rebuilt from a trace's rows. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { insteadOf, isNamed, distributionsOf, sampledAct } from "../../assets/js/shared/anatomy/act.js";
import { chance, distance, distributionOf, residualOf, sideBySide } from "../../assets/js/shared/run/distributions.js";
import { modelOf, recorded } from "../app/js/build.mjs";

const model = modelOf(recorded("06-chat-sampled"));
const verdicts = [...model.tokens.values()].flatMap((record) => record.judgements.map((j) => ({ record, j })));
const ROW = { ids: [5, 6, 7], probs: [0.5, 0.25, 0.125], tail: 0.125 };
const near = (a, b, what) => assert.ok(Math.abs(a - b) < 2e-3, `${what}: ${a} is not ${b}`);

test("a raw row is its own dist at temperature 1", () => {
  const dist = distributionOf(ROW, { temperature: 1, top_k: 0, top_p: 1 });
  assert.deepEqual([chance(dist, 6), chance(dist, null), dist.close], [0.25, 0.125, true]);
});

test("a greedy dist has one token, a named one too", () => {
  assert.equal(chance(distributionOf(ROW, { temperature: 0 }), 5), 1);
  assert.equal(chance(distributionOf(ROW, { temperature: 0.8, top_k: 1 }), 5), 1);
  assert.ok(distributionOf({ ids: [9], probs: [1], tail: 0 }, { temperature: 0.8 }).certain);
});

test("top-k leaves k tokens, top-p the fewest that reach it", () => {
  const two = distributionOf(ROW, { temperature: 1, top_k: 2, top_p: 1 });
  near(chance(two, 5), 2 / 3, "top-k");
  assert.deepEqual([two.probs.size, two.tail], [2, 0]);
  const most = distributionOf(ROW, { temperature: 1, top_k: 0, top_p: 0.7 });
  near(chance(most, 6), 1 / 3, "top-p");
  assert.deepEqual([most.probs.size, most.tail], [2, 0]);
});

test("a known probability fixes a dist whose tail is not kept", () => {
  const weights = [0.5, 0.25, 0.125, 0.125 / 4, 0.125 / 4, 0.125 / 4, 0.125 / 4].map((p) => p ** 2);
  const total = weights.reduce((a, b) => a + b);
  const sampling = { temperature: 0.5, top_k: 0, top_p: 1 };
  assert.equal(distributionOf(ROW, sampling).close, false);
  const dist = distributionOf(ROW, sampling, [{ id: 6, p: weights[1] / total }]);
  near(chance(dist, 5), weights[0] / total, "p of another token");
  near(dist.tail, 1 - (weights[0] + weights[1] + weights[2]) / total, "the tail");
});

test("what the recording says of p, q, alpha and residuals follows from the distributions", () => {
  let compared = 0;
  for (const { record, j } of verdicts) {
    const { p, q } = distributionsOf(model, record, j);
    near(chance(p, record.id), j.p, "p");
    near(chance(q, record.id), j.q, "q");
    near(
      [...p.probs.values()].reduce((a, b) => a + b, p.tail),
      1,
      "sum of p",
    );
    if (model.levels[j.level].rule !== "tokenwise") continue;
    if (j.outcome !== "unjudged") near(Math.min(1, chance(p, record.id) / chance(q, record.id)), j.alpha, "alpha");
    if (!j.residual) continue;
    const pair = sideBySide(p, q, [record.id]);
    const rest = residualOf(pair.p, pair.q);
    for (const [i, id] of j.residual.ids.entries())
      if (pair.ids.includes(id)) near(rest[pair.ids.indexOf(id)], j.residual.probs[i], "residual");
    compared += 1;
  }
  assert.ok(compared > 10, `${compared} residuals`);
});

test("an act names the draft, what was drawn instead of it, and every symbol once", () => {
  const { record, j } = verdicts.find((x) => x.j.outcome === "rejected" && isNamed(x.j));
  const own = insteadOf(model, record, j);
  assert.deepEqual([own.how, own.at, own.level], ["correct", record.at, j.level]);
  const act = sampledAct(model, record, j);
  assert.equal(act.lines.filter((x) => x.mine).length, 1);
  assert.deepEqual(
    act.lines.filter((x) => x.drawn).map((x) => x.id),
    [own.id],
  );
  near(
    act.lines.reduce((sum, x) => sum + x.p, 0),
    1,
    "p over all symbols",
  );
  near(act.kept, j.p, "a named draft is kept with p");
  assert.ok(act.recorded && act.lines.length <= 8);
});

test("total variation is 0 for the same dist and 1 for strangers", () => {
  assert.deepEqual([distance([0.5, 0.5], [0.5, 0.5]), distance([1, 0], [0, 1])], [0, 1]);
});
