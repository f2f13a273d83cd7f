// Claims about the names of files. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { traceName } from "../../assets/js/shared/kit/files.js";

test("a trace is named by preset, stack and day", () => {
  const header = { preset: "smollm2", stack: "ngram:2,exit:4@at=8,target", recorded: "2026-11-22T10:00:00" };
  assert.equal(traceName(header), "smollm2_ngram-2_exit-4-at=8_target_2026-11-22.jsonl.gz");
  const today = new Date().toISOString().slice(0, 10);
  assert.equal(traceName({ preset: null, stack: "target" }), `simulated_target_${today}.jsonl.gz`);
});

test("a stack that somebody made up makes no path and no endless name", () => {
  const name = traceName({ preset: "../x", stack: `a/b\\c,${"model:3,".repeat(80)}target`, recorded: "2026-01-02" });
  assert.match(name, /^[\w.=-]+$/);
  assert.ok(!name.includes("/") && name.length < 170 && name.endsWith("_2026-01-02.jsonl.gz"));
});
