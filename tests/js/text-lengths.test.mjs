// Claims about what is said of stacks by the length of the text, and about their picture. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { lengthScales } from "../../assets/js/planner/lengths/length-plot.js";
import { headline } from "../../assets/js/planner/lengths/text-lengths.js";

/** @param {boolean} view @param {string} stack @param {number|null} pays_from */
const line = (view, stack, pays_from = 1000) => ({
  view,
  stack,
  points: [
    [1000, 1.1],
    [4000, 2.3],
  ],
  pays_from,
});
const rows = [{ length: 1000 }, { length: 4000 }];
/** @param {any[]} lines @param {number|null} overtakes */
const said = (lines, overtakes = null) => headline(/** @type {any} */ ({ lines, rows, overtakes }));
const BOTH = [line(true, "a view"), line(false, "another")];

test("the sentence says from where on a view is ahead, and what is extrapolated", () => {
  assert.match(said(BOTH, 1000), /^A view pays at every length that was measured: “a view” is faster than “another”/);
  assert.match(said(BOTH, 2310), /^A view pays from 2,310 tokens of text on: there “a view” becomes faster/);
  assert.match(said(BOTH, 9000), /no view pays\. Extrapolated, “a view” becomes faster than “another” at 9,000 tokens/);
  assert.match(said(BOTH, null), /^No view pays in long texts here: at 4,000 tokens “another” is faster than “a view”/);
});

test("of one stack alone it says from where on it beats plain decoding, if anywhere", () => {
  assert.match(said([line(true, "a view", 2000)]), /^“a view” is faster than plain decoding from 2,000 tokens/);
  assert.match(said([line(false, "another", null)]), /^No stack of these profiles/);
  assert.match(said([]), /^No stack of these profiles/);
});

test("longer is to the right, faster is higher, and plain decoding is in the picture", () => {
  const { x, y, ticks } = lengthScales(/** @type {any} */ ([line(true, "a view")]), 600, 280);
  assert.ok(x(1000) < x(2000) && x(2000) < x(4000) && x(4000) < 600);
  assert.ok(y(2.3) < y(1.1) && y(2.3) > 0 && ticks.includes(1));
});
