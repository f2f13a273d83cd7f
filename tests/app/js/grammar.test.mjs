// The golden cases of the grammar, which tests/unit/test_stacks.py reads too: the same levels, or the same words of refusal.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { grammar } from "../../../assets/js/kinds.js";
import { format, read, valueOf } from "../../../assets/js/stack.js";
import "./build.mjs";

const CASES = JSON.parse(readFileSync(new URL("../../grammar.json", import.meta.url), "utf8"));

/** A level with typed values, as the cases have it. */
function typed({ name, block, options }) {
  const values = Object.entries(options).map(([key, text]) => [key, valueOf(grammar.keys.get(key), text)]);
  return { name, ...(block === null ? {} : { block }), ...Object.fromEntries(values) };
}

for (const { text, levels, error } of CASES) {
  test(`${JSON.stringify(text)} is ${error ? "refused" : "read"} as the engine does`, () => {
    const found = read(text);
    assert.equal(found.fault, error ?? "");
    if (!error) assert.deepEqual(found.levels.map(typed), levels);
  });
}

test("a threshold is left out only where it is the one that its policy has anyway", () => {
  const kept = (text) => format(read(text).levels);
  assert.equal(kept("int8:4@policy=confidence@theta=0.6,target"), "int8:4@policy=confidence,target");
  assert.equal(kept("int8:4@policy=margin@theta=0.15,target"), "int8:4@policy=margin,target");
  for (const theta of ["margin@theta=0.6", "confidence@theta=0.15"])
    assert.equal(kept(`int8:4@policy=${theta},target`), `int8:4@policy=${theta},target`);
});
