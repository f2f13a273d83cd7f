// Claims about the mask of a level with a running state. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { roundOf } from "../../assets/js/shared/anatomy/round.js";
import { ancestorsOf } from "../../assets/js/systems/stree/stree.js";
import { commit, draft, header, modelOf, verify } from "../app/js/build.mjs";

const shown = ({ reads }) => reads.map((row) => row.map((x) => (x ? "x" : ".")).join(""));

test("in a chain each token reads those before it", () => {
  const model = modelOf([
    header("nano", "target"),
    draft(0, "0:0 1:1 2:2", 0, 30),
    verify(1, 0, "0:0+ 1:1+ 2:2+", 30, 60),
  ]);
  assert.deepEqual(shown(ancestorsOf(roundOf(model, 0).calls[0])), ["x..", "xx.", "xxx"]);
});

test("in a tree each token reads its own path", () => {
  const drafted = draft(0, "0:0 1:1 2:2 3:3", 0, 30);
  const parents = [null, 0, null, 2];
  drafted.tokens.forEach((token, i) => (token.parent = parents[i]));
  const model = modelOf([header("nano", "target"), drafted, commit(0, "0:0 0 draft", 62)]);
  const found = ancestorsOf(roundOf(model, 0).calls[0]);
  const serials = found.tokens.map((x) => x.serial);
  const rows = Object.fromEntries(
    serials.map((serial, i) => [serial, serials.filter((_, j) => found.reads[i][j]).sort()]),
  );
  assert.deepEqual(rows, { 0: [0], 1: [0, 1], 2: [2], 3: [2, 3] });
});
