// Claims about how figures are written. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { duration, figure, rounded } from "../../assets/text/numbers.js";

test("figures that are compared keep their zeros, so that 9.2 and 9.20 are never both on the page", () => {
  assert.deepEqual(
    [9.2, 9.1999, 15, 152.4, 0.5, 0].map((x) => rounded(x)),
    ["9.20", "9.20", "15.0", "152", "0.500", "0"],
  );
  assert.equal(rounded(9.2, 2), "9.2");
  assert.equal(rounded(Number.NaN), "\u2013");
});

test("a figure by itself is as short as it can be, and never in powers of ten", () => {
  assert.deepEqual([9.2, 15, 1523.4, 0.5, 0.0001, null].map(figure), ["9.2", "15", "1523", "0.5", "<0.001", "\u2013"]);
});

test("a time is written in one unit on every screen, also where it rounds to a second", () => {
  assert.deepEqual(
    [0.113, 6.51, 58.3, 999.4, 999.6, 1000, 1250].map((ms) => duration(ms * 1e6)),
    ["0.113\u00a0ms", "6.51\u00a0ms", "58.3\u00a0ms", "999\u00a0ms", "1.00\u00a0s", "1.00\u00a0s", "1.25\u00a0s"],
  );
});
