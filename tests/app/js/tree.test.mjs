// Claims about sequences that are offered side by side: read from what each stands `behind`, judged, placed in the text or not.

import assert from "node:assert/strict";
import { test } from "node:test";
import { candidates, settle, treeOf, treeText, fate } from "../../../assets/js/shared/run/tree.js";
import { commit, draft, drawn, header, modelOf, piece, treeFrom, verify } from "./build.mjs";

const LETTERS = [..."abcdefgh"].map((x, i) => piece(i, x));

/** a b / a c / d e / f, as seven nodes of serials 0 to 5: T rejects b, keeps c, and adds h. */
const PARENTS = [-1, 0, 0, -1, 3, -1];
const tree = (serials, at, t0, t1) =>
  treeFrom(
    draft(
      at,
      serials.map((serial, i) => [serial, i]),
      t0,
      t1,
    ),
    PARENTS,
  );
const TREE = tree([0, 1, 2, 3, 4, 5], 0, 0, 60);
const JUDGED = [
  [0, 0, "+"],
  [1, 1, "x"],
  [2, 2, "+"],
  [3, 3, "."],
  [4, 4, "."],
  [5, 5, "."],
];

const model = (...events) => modelOf([header("ngram", "target"), ...LETTERS, ...events]);

const round = () => [
  TREE,
  verify(1, 0, JUDGED, 60, 100),
  drawn("bonus", 1, 2, 6, 7, 101),
  commit(0, "0:0 0 draft by 1, 2:2 0 draft by 1, 6:7 1 bonus", 102),
];

const texts = (m, records) => records.map((x) => m.pieceText(x.id)).join("");

test("rows and depths follow the parents; what begins alike is one row until it forks", () => {
  const tree = treeOf(TREE);
  assert.deepEqual(tree.depths, [0, 1, 1, 0, 1, 0]);
  assert.deepEqual(tree.rowOf, [0, 0, 1, 2, 2, 3]);
  assert.equal(tree.rows, 4);
});

test("a token that was drawn again is one node, which knows how often; others were drawn once", () => {
  const m = model({ ...TREE, notes: { draws: { times: [3, 1, 1, 1, 1, 1] } } });
  assert.deepEqual(
    m.treeAt(60).nodes.map((x) => x.draws),
    [3, 1, 1, 1, 1, 1],
  );
  assert.ok(
    model(TREE)
      .treeAt(60)
      .nodes.every((x) => x.draws === 1),
  );
});

test("a chain is not a tree, unless its level offers several sequences elsewhere", () => {
  const chain = draft(0, "0:0 1:1", 0, 9);
  assert.equal(treeOf(chain), null);
  assert.deepEqual(treeOf(chain, true).rowOf, [0, 0]);
  assert.equal(treeOf(draft(0, [], 0, 9), true), null);
});

test("parents that are not a tree are read as a chain", () => {
  for (const parents of [
    [0, 0, 0, 0, 0, 0],
    [-1, 5, 0, 0, 0, 0],
  ])
    assert.equal(treeOf(treeFrom(TREE, parents)), null);
  const [first, ...others] = TREE.tokens;
  assert.equal(treeOf({ ...TREE, tokens: [{ ...first, parent: undefined }, ...others] }), null);
});

test("until it is judged a tree stands nowhere in the text", () => {
  const m = model(TREE);
  assert.deepEqual(m.aliveAt(70), []);
  assert.equal(m.treeAt(59), null, "not drafted yet");
  assert.equal(m.treeAt(60).nodes.length, 6);
  assert.deepEqual(
    m.treeAt(60).nodes.map((x) => x.at),
    [0, 1, 1, 0, 1, 0],
  );
  assert.ok(m.treeAt(60).nodes.every((x) => fate(x, 60) === "waiting"));
});

test("the kept path comes into the text, the rejected are ghosts, the others were not asked", () => {
  const m = model(...round());
  assert.equal(texts(m, m.aliveAt(100)), "ac");
  assert.equal(m.text(), "ach");
  assert.deepEqual(
    m.ghosts.map((x) => [m.pieceText(x.id), x.at, x.goneBy]),
    [["b", 1, 1]],
  );
  const fates = m.trees[0].nodes.map((x) => fate(x, 100));
  assert.deepEqual(fates, ["kept", "rejected", "kept", "unasked", "unasked", "unasked"]);
  assert.deepEqual(
    [3, 4, 5].map((serial) => m.tokens.get(serial).insteadOf),
    [0, 0, 0],
  );
  assert.equal(
    treeText(m.trees[0], m, 100),
    "4 candidates side by side, 6 tokens: 2 kept, 1 rejected by T, 3 not judged",
  );
});

test("the candidates of a place are its siblings, and belong to the correction too", () => {
  const m = model(TREE, verify(1, 0, "0:0x 1:1. 2:2. 3:3x 4:4. 5:5x", 60, 100), drawn("correct", 1, 0, 6, 7, 101));
  assert.equal(texts(m, candidates(m.tokens.get(3))), "adf");
  assert.equal(texts(m, candidates(m.tokens.get(2))), "bc");
  assert.equal(texts(m, candidates(m.tokens.get(6))), "adf", "all three were rejected for the token that T drew");
  assert.equal(m.tokens.get(4).lostWith, 3);
  assert.deepEqual(
    m.ghosts.map((x) => x.followers.length),
    [2, 1, 0],
  );
  assert.equal(m.segments.at(-1).rejects, 3);
});

test("a bonus behind a leaf had no candidates", () => {
  const m = model(...round());
  assert.deepEqual(candidates(m.tokens.get(6)), []);
});

test("what a run was stopped before judging is gone at its end", () => {
  const m = model(TREE, { event: "footer", reason: "stopped", rounds: 0, committed: 0, totals: [] });
  assert.deepEqual(m.aliveAt(Infinity), []);
  assert.ok(m.trees[0].nodes.every((x) => m.state(x, 60) === "gone"));
});

test("above the first verifier a kept path is a chain like any other", () => {
  const m = modelOf([
    header("ngram", "int8", "target"),
    ...LETTERS,
    TREE,
    verify(1, 0, JUDGED, 60, 100),
    drawn("bonus", 1, 2, 6, 7, 101),
    tree([10, 11, 12, 13, 14, 15], 3, 102, 110),
    verify(
      1,
      3,
      JUDGED.map(([s, i, o]) => [s + 10, i, o]),
      110,
      120,
    ),
    drawn("bonus", 1, 5, 16, 7, 121),
    verify(2, 0, "0:0+ 2:2x 6:7. 10:0. 12:2. 16:7.", 121, 200),
    drawn("correct", 2, 1, 20, 6, 201),
  ]);
  assert.equal(texts(m, m.aliveAt(121)), "achach");
  assert.equal(texts(m, m.aliveAt(201)), "ag");
  assert.deepEqual(
    m.ghosts.map((x) => x.serial),
    [1, 11, 2],
  );
  assert.equal(m.tokens.get(2).followers.length, 4);
  assert.deepEqual(candidates(m.tokens.get(20)), []);
});

test("what is written next stands behind what was kept of a tree", () => {
  const built = treeOf(TREE);
  built.nodes.push(...[0, 1, 2, 3, 4, 5].map((serial) => /** @type {any} */ ({ serial, followers: [], fork: null })));
  const checks = JUDGED.map(([serial, , said]) => ({ serial, outcome: { "+": "accepted", x: "rejected" }[said] }));
  const { kept, rejected } = settle(built, /** @type {any} */ ({ t1: 100, level: 1, checks }));
  assert.deepEqual(
    [kept, rejected].map((some) => some.map((x) => x.serial)),
    [[0, 2], [1]],
  );
  assert.deepEqual(built.end, { parent: 2, at: 2 });
});
