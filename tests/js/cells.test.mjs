// Claims about where one shown character ends. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { splitCells } from "../../assets/js/shared/run/cells.js";

const bytes = (text) => new TextEncoder().encode(text);

function cells(...texts) {
  const records = texts.map((_, id) => ({ serial: id, id }));
  return splitCells(records, (id) => ({ bytes: bytes(texts[id]), special: false })).map((cell) => cell.text);
}

test("what a reader takes for one character is one cell, in every script", () => {
  assert.deepEqual(cells("e", "\u0301", "x"), ["e\u0301", "x"]);
  assert.deepEqual(
    cells("\u1112", "\u1161", "\u11ab", "\uad6d"),
    ["\u1112\u1161\u11ab", "\uad6d"],
    "a Korean syllable in letters",
  );
  assert.deepEqual(cells("\u0e01", "\u0e33"), ["\u0e01\u0e33"], "a Thai vowel");
  assert.deepEqual(cells("\u2764", "\ufe0f", "\u{1f44d}", "\u{1f3fd}"), ["\u2764\ufe0f", "\u{1f44d}\u{1f3fd}"]);
  assert.deepEqual(
    cells("\u{1f1eb}", "\u{1f1f7}", "\u{1f1e9}"),
    ["\u{1f1eb}\u{1f1f7}", "\u{1f1e9}"],
    "two letters make a flag",
  );
});

test("a new line takes no mark, and plain letters are never joined", () => {
  assert.deepEqual(cells("\n", "\u0301"), ["\n", "\u0301"]);
  assert.deepEqual(cells("a", "b", " ", "\u00e9", "\u00e9"), ["a", "b", " ", "\u00e9", "\u00e9"]);
});
