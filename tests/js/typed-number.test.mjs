// Claims about numbers that somebody types. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { typedNumber } from "../../assets/js/shared/levels/typed-number.js";

const T = { low: 1, high: 64 };

test("what fits is taken without a word", () => {
  for (const [text, value] of [
    ["7", 7],
    [" 64 ", 64],
    ["1", 1],
  ])
    assert.deepEqual(typedNumber(text, T, "T"), { value, said: "" });
  assert.deepEqual(typedNumber("0,5", { low: 0, high: 2, step: 0.1 }, "temperature"), { value: 0.5, said: "" });
});

test("what is changed is said", () => {
  assert.deepEqual(typedNumber("99", T, "T"), { value: 64, said: "T is at most 64, and is set to that." });
  assert.match(typedNumber("0", T, "T").said, /at least 1/);
  assert.match(typedNumber("2.6", T, "T").said, /whole number, and is set to 3/);
});

test("what is no number changes nothing, and is named", () => {
  for (const text of ["abc", "", "NaN", "1e999", "-"]) {
    const { value, said } = typedNumber(text, T, "T");
    assert.equal(value, null);
    assert.match(said, /stays as it was/);
  }
});
