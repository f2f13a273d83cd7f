// The golden cases of the grammar, which tests/unit/test_stacks.py reads too: the page draws what the engine reads.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { format, parse } from "../../../assets/js/shared/levels/stack.js";
import "./build.mjs";

const CASES = JSON.parse(readFileSync(new URL("../../grammar.json", import.meta.url), "utf8"));

for (const { text, levels } of CASES.filter((one) => one.levels)) {
  test(`${JSON.stringify(text)} is drawn with the engine's levels, T and keys`, () => {
    const drawn = parse(text)?.map(({ name, block, options }) => ({ name, block, keys: Object.keys(options).sort() }));
    const read = levels.map(({ name, block = null, ...own }) => ({ name, block, keys: Object.keys(own).sort() }));
    assert.deepEqual(drawn, read);
  });
}

test("what is not a list of levels is not drawn", () => {
  for (const text of ["", "target,,target", "Target", "int8:0,target", "int8:x,target", "int8:2@policy=,target"])
    assert.equal(parse(text), null, text);
});

test("a threshold is left out only where it is the one that its policy has anyway", () => {
  const kept = (text) => format(parse(text));
  assert.equal(kept("int8:4@policy=confidence@theta=0.6,target"), "int8:4@policy=confidence,target");
  assert.equal(kept("int8:4@policy=margin@theta=0.15,target"), "int8:4@policy=margin,target");
  for (const theta of ["margin@theta=0.6", "confidence@theta=0.15"])
    assert.equal(kept(`int8:4@policy=${theta},target`), `int8:4@policy=${theta},target`);
});
