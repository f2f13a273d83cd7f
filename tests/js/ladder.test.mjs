// Claims about the map of sublayers: what is lost, what weighs most, and what is out. Run: node --test tests/js

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { KINDS, heaviest, isOut, lost } from "../../assets/js/systems/skip/ladder-figure.js";
import { LADDER } from "../../assets/js/systems/skip/words.js";

/** @type {import("../../assets/js/systems/skip/ladder-figure.js").Ladder} */
const LADDER_FILE = JSON.parse(
  readFileSync(new URL("../../assets/drafts/smollm2-sublayers.json", import.meta.url), "utf8"),
);

test("what is lost is what is not kept, between nothing and all", () => {
  assert.deepEqual(
    [1, 0.25, 0, 1.2].map((agree) => lost({ kind: "mlp", layer: 0, agree })),
    [0, 0.75, 1, 0],
  );
});

test("the dearest stand first", () => {
  const found = heaviest(LADDER_FILE, 5);
  assert.equal(found.length, 5);
  assert.ok(LADDER_FILE.alone.every((one) => found.includes(one) || one.agree >= found[4].agree));
});

test("so many steps leave out so many sublayers", () => {
  for (const steps of [0, 1, LADDER_FILE.path.length]) {
    assert.equal(LADDER_FILE.alone.filter((one) => isOut(LADDER_FILE, steps, one)).length, steps);
  }
});

test("every kind has words, and a cell says its layer and whether it is out", () => {
  for (const kind of KINDS) assert.ok(LADDER.kinds[kind]);
  assert.match(LADDER.cell("MLP", 3, 0.5, true), /MLP of layer 3.*50.%.*left out here/);
  assert.doesNotMatch(LADDER.cell("MLP", 3, 0.5, false), /left out here/);
});
