// Claims about figures that a script builds. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { wrapped } from "../../assets/js/shared/plots/look.js";

test("a label is cut at its blanks into lines that are as long as allowed, a longer word alone", () => {
  assert.equal(wrapped("one two three four", 9), "one two<br>three<br>four");
  assert.equal(wrapped("one two three four", 10), "one two<br>three four");
  assert.equal(wrapped("unbreakable it is", 5), "unbreakable<br>it is");
  assert.equal(wrapped("a < b", 20), "a \u2039 b");
});
