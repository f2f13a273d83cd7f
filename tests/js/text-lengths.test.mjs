// Claims about what is said of stacks by the length of the text, and about their picture. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { lengthScales, headline } from "../../assets/js/tabs/planner/text-lengths.js";

/** @param {boolean} view @param {number} most */
const line = (view, most = 2.3) => ({
  view,
  points: [
    [1000, 0.9],
    [4000, most],
  ],
});
/** @param {any[]} lines @param {number|null} overtakes @param {[number, number][]} ahead */
const said = (lines, overtakes = null, ahead = overtakes ? [[overtakes, 4000]] : []) => {
  const best = lines.map(({ view, points }) => ({ stack: view ? "a view" : "another", speedup: points[1][1] }));
  const rows = [
    { length: 1000, best },
    { length: 4000, best },
  ];
  return headline(/** @type {any} */ ({ lines, rows, ahead, overtakes }));
};
const BOTH = [line(true), line(false, 1.5)];

test("the sentence says from where on a view is ahead, how much, and what is extrapolated", () => {
  const there = "At 4,000 tokens “a view” is 2.30× as fast as plain decoding, “another” 1.50×.";
  assert.equal(said(BOTH, 1000), `A view of the cache pays at every length that was measured. ${there}`);
  assert.equal(said(BOTH, 2310), `A view of the cache pays from 2,310 tokens of text on. ${there}`);
  const twice = said(BOTH, 3100, [
    [1000, 2200],
    [3100, 4000],
  ]);
  assert.equal(twice, `A view of the cache pays up to 2,200 tokens of text and from 3,100 on. ${there}`);
  assert.match(said(BOTH, 9000), /no view pays\. Extrapolated, “a view” becomes faster than “another” at 9,000 tokens/);
  assert.match(said(BOTH, null), /^No view pays in long texts here: at 4,000 tokens “another” is faster than “a view”/);
});

test("of stacks of one sort it says how fast the best is, if it beats plain decoding anywhere", () => {
  assert.equal(said([line(true)]), "“a view” is 2.30× as fast as plain decoding at 4,000 tokens of text.");
  assert.match(said([line(false, 1)]), /^No stack of these profiles/);
  assert.match(said([]), /^No stack of these profiles/);
});

test("longer is to the right, faster is higher, and plain decoding is in the picture", () => {
  const { x, y, ticks } = lengthScales(/** @type {any} */ ([line(true)]), 600, 280);
  assert.ok(x(1000) < x(2000) && x(2000) < x(4000) && x(4000) < 600);
  assert.ok(y(2.3) < y(0.9) && y(2.3) > 0 && ticks.includes(1));
});
