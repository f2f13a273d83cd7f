// What the page calls stacks is what the terminal calls them: one table of names, which tests/unit/test_stack_names.py
// reads too, and every stack of the grammar's golden cases.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { levelNames, stackNames } from "../../../assets/js/shared/levels/stack-names.js";
import { PYTHON } from "./build.mjs";

const root = new URL("../../../", import.meta.url);
const json = (name) => JSON.parse(readFileSync(new URL(`tests/${name}.json`, root), "utf8"));

for (const { about, names } of json("stack_names"))
  test(`${about}: ${Object.keys(names)[0]}`, () => {
    assert.deepEqual(Object.fromEntries(stackNames(Object.keys(names))), names);
  });

test("every stack that the grammar reads is called the same on the page and in the terminal", () => {
  const stacks = json("grammar").flatMap(({ written }) => written ?? []);
  const asks =
    "import json, sys; from hsd_core.grammar.stack_names import stack_names as n; print(json.dumps(dict(n(json.load(sys.stdin)))))";
  const told = execFileSync(PYTHON, ["-c", asks], { cwd: root, input: JSON.stringify(stacks) });
  assert.deepEqual(Object.fromEntries(stackNames(stacks)), JSON.parse(told.toString()));
});

test("every level is called the same on the page and in the terminal", () => {
  const stacks = [
    ...json("stack_names").flatMap(({ names }) => Object.keys(names)),
    ...json("grammar").flatMap(({ written }) => written ?? []),
  ];
  const asks =
    "import json, sys; from hsd_core.grammar.stack_names import level_names as n; print(json.dumps([n(x) for x in json.load(sys.stdin)]))";
  const told = execFileSync(PYTHON, ["-c", asks], { cwd: root, input: JSON.stringify(stacks) });
  assert.deepEqual(
    stacks.map((stack) => levelNames(stack)),
    JSON.parse(told.toString()),
  );
});
