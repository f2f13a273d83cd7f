// Claims about how figures are written. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { figure, rounded } from "../../assets/js/words/numbers.js";

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
