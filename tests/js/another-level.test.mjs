// Claims about what the Planner's first question says of its curve. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { madeAhead } from "../../assets/js/tabs/planner/another/answers.js";
import { nearest, scales } from "../../assets/js/tabs/planner/another/curve.js";
import { paysFrom, readAt } from "../../assets/js/tabs/planner/another/another-level.js";

/** @returns {any} */
const curve = (/** @type {[number, number, number][]} */ points, /** @type {number[]} */ crossings = [], at = 0.9) => ({
  agreement: 0.9,
  at,
  crossings,
  points: points.map(([share, fewer, more]) => ({
    share,
    fewer: { speedup: fewer, stack: "a,target" },
    more: { speedup: more, stack: "a,b,target" },
  })),
});
const FALLS = curve(
  [
    [0.2, 2, 2.4],
    [0.4, 1.5, 1.6],
    [0.6, 1.5, 1.2],
  ],
  [0.45],
);

test("the answer is that of the cost where the slider stands, and the stack to use the faster one", () => {
  assert.deepEqual(
    [0.2, 0.39, 0.6].map((share) => [readAt(FALLS, share).pays, readAt(FALLS, share).plan.stack]),
    [
      ["yes", "a,b,target"],
      ["yes", "a,b,target"],
      ["no", "a,target"],
    ],
  );
  assert.equal(readAt(curve([[0.2, 2, 2.004]]), 0.2).pays, "even");
});

test("the costs between which it pays end at crossings, or with the curve", () => {
  assert.deepEqual(paysFrom(FALLS), { low: null, high: 0.45 });
  const between = curve(
    [
      [0.1, 3, 2.9],
      [0.3, 2, 2.2],
      [0.6, 1.5, 1.2],
    ],
    [0.15, 0.5],
  );
  assert.deepEqual(paysFrom(between), { low: 0.15, high: 0.5 });
  assert.equal(
    paysFrom(
      curve([
        [0.1, 3, 2.9],
        [0.5, 2, 1.5],
      ]),
    ),
    null,
  );
  assert.deepEqual(
    paysFrom(
      curve([
        [0.1, 2, 2.9],
        [0.5, 1, 1.5],
      ]),
    ),
    { low: null, high: null },
  );
});

test("points stand where their figures say, equal ratios equally far apart", () => {
  const { x, y, ticks, last } = scales(FALLS.points, 600, 300);
  assert.equal(last, 0.6);
  assert.ok(Math.abs(x(0.4) - x(0.2) - (x(0.6) - x(0.4))) < 1e-9 && x(0.6) <= 600);
  assert.ok(Math.abs(y(1) - y(1.5) - (y(1.5) - y(2.25))) < 1e-9);
  for (const gain of [1, 2.4]) assert.ok(y(gain) > 0 && y(gain) < 300);
  assert.ok(ticks.includes(1) && ticks.includes(2) && !ticks.includes(6));
  assert.equal(nearest(FALLS.points, 0.49).share, 0.4);
});

test("curves made ahead answer as a server would, at the nearest of their agreements", async () => {
  /** @type {any[]} */ const heard = [];
  /** @type {Record<string, any>} */ const grids = {
    one: [curve([[0.2, 1, 1]], [], 0.5), curve([[0.2, 1, 1]], [], 0.9)],
  };
  const answers = madeAhead(
    async ({ source }) => grids[source] ?? null,
    { onAnswer: (/** @type {any} */ found) => heard.push(found.at), onRefusal: (text) => heard.push(text) },
    "none",
  );
  const profile = { temperature: 0 };
  await answers.ask({ profile, source: "one", agreement: null });
  await answers.ask({ profile, source: "one", agreement: 0.6 });
  await answers.ask({ profile, source: "other", agreement: null });
  assert.deepEqual(heard, [0.9, 0.5, "none"]);
});
