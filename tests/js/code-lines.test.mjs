// Which lines are code: the text itself says it, and says the same however it is cut into tokens.

import assert from "node:assert/strict";
import { test } from "node:test";
import { START, behind } from "../../assets/js/shared/text/text-lines.js";

/** The lines of a text that are code, marked with |. */
const marked = (text) => {
  const lines = text.split("\n");
  let at = START;
  return lines
    .map((line, i) => {
      at = behind(at, line);
      const shown = `${at.code ? "|" : " "}${line}`;
      if (i < lines.length - 1) at = behind(at, "\n");
      return shown;
    })
    .join("\n");
};
const code = (text) =>
  marked(text)
    .split("\n")
    .map((line) => line[0] === "|");

const FENCED = "Here it is:\n```python\ndef f(x):\n\n    return x\nx = 1\n```\nIt returns x.\n    Not more.";

test("what stands between fences is code, blank lines too, and what follows is not", () => {
  assert.deepEqual(code(FENCED), [false, true, true, true, true, true, true, false, false]);
});

test("code without fences is known by how it begins, and by what is indented below it", () => {
  const text = "Write it so:\ndef f(x):\n    if x:\n        return 1\n\n    return 2\nprint(f(3))\n\nIt returns 2.";
  assert.deepEqual(code(text), [false, true, true, true, true, true, true, true, false]);
  assert.deepEqual(code("import os\nfrom re import sub\nx = 3\nwhile (x) {\n}"), [true, true, true, true, true]);
  assert.deepEqual(code("#include <stdio.h>\nint main() {\n    return 0;\n}"), [true, true, true, true]);
});

test("an indented block behind a blank line is code, but not the continuation of a list", () => {
  assert.deepEqual(code("Try this:\n\n    x = 1\n    y = 2\nThen go on."), [false, false, true, true, false]);
  const list = "1. First\n    more of it\n    - one\n\n    and more\n2. Second";
  assert.deepEqual(code(list), [false, false, false, false, false, false]);
});

test("sentences and sums are no code", () => {
  for (const text of [
    "import taxes rose from 3 to 4 percent",
    "class is over; from now on, if you like, print it",
    "for example (and this matters), while it rained",
    "Total = 3 * 15 = 45\nThe answer is 45.",
    "# A title\n* one\n* two",
    "- def is a keyword",
    "She said: \u201cdefine it\u201d.",
  ])
    assert.ok(!code(text).some(Boolean), marked(text));
});

test("it makes no difference where tokens end", () => {
  for (const size of [1, 2, 3, 7]) {
    let at = START;
    for (let i = 0; i < FENCED.length; i += size) at = behind(at, FENCED.slice(i, i + size));
    assert.deepEqual(at, behind(START, FENCED));
  }
});

test("behind an empty line an indented one goes on as the code above it", () => {
  assert.deepEqual(code("def f(x):\n    y = x\n\n    y\n"), [true, true, true, true, true]);
});

test("what is indented below an item of a list belongs to it, behind an empty line too", () => {
  assert.deepEqual(code("- an item\n\n    goes on\n"), [false, false, false, false]);
});
