// Claims about the letters below tokens, which the text makes no room for. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { gapBefore, letterRoom } from "../../assets/js/shared/text/text-lines.js";

const cells = (...texts) => texts.map((text) => ({ text, special: false, partial: false }));

/** The letters of tokens side by side, as [shown, shifted, squeezed]. */
function placed(all, letters) {
  let before = null;
  return all.map((cell, i) => {
    before = letterRoom(cell, letters[i], before, gapBefore(all[i + 1] && { cell: all[i + 1] }));
    return [before.shown, before.at > 0, before.squeeze < 1];
  });
}

test("letters below words, and below signs with a blank or a newline behind them, stand as they are", () => {
  const plain = ["Q", false, false];
  assert.deepEqual(placed(cells("with", ",", " the", ".", "\n"), "QQQQQ"), [
    plain,
    plain,
    plain,
    ["Q", false, true],
    plain,
  ]);
});

test("between tokens that touch, a sign's letter is squeezed, left out where it only repeats, or reaches on", () => {
  assert.deepEqual(placed(cells("isinstance", "(", "temp"), "NNQ")[1], ["N", false, true]);
  assert.deepEqual(placed(cells("a", "'", "b"), "QQQ")[1], ["", false, false]);
  assert.deepEqual(placed(cells("a", "'", "bc"), "QTQ").slice(1), [
    ["T", false, true],
    ["Q", true, false],
  ]);
  assert.deepEqual(placed(cells("a", "'", " bc"), "QTQ")[2], ["Q", false, false], "a blank takes it up");
  assert.deepEqual(placed(cells("a", "'\n  ", "bc"), ["Q", "Q2", "Q"])[2], ["Q", false, false], "so does a new line");
});
