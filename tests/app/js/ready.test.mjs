// Candidates that are kept ready while the target verifies: what waits stays in the next tree, what fell does not.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fate } from "../../../assets/js/shared/run/tree.js";
import { commit, draft, drawn, header, modelOf, treeFrom, verify } from "./build.mjs";

const dropping = (event, ...serials) => ({ ...event, notes: { dropped: { serials } } });
const reckoned = () => {
  const one = header("nano", "target");
  return { ...one, reckoned: true, levels: one.levels.map((level, lane) => ({ ...level, lane })) };
};

/** The drafter has 1 3 and 2 4 ready; the target says 2, so 4 waits; then 5 and 6 stand behind it. */
function duo() {
  return modelOf([
    reckoned(),
    treeFrom(draft(0, "0:1 1:2 2:3 3:4", 0, 60), [-1, -1, 0, 1]),
    dropping(verify(1, 0, "0:1x 1:2+", 0, 50), 2),
    commit(0, "1:2 0 draft by 1", 62),
    treeFrom(draft(2, "4:5 5:6 6:7 7:8", 62, 120, 1), [-1, -1, 0, 1], [3, 3]),
    dropping(verify(1, 1, "3:4+ 4:5x 5:6x", 62, 110, 1), 6, 7),
    drawn("correct", 1, 2, 8, 9, 121, 1),
    commit(1, "3:4 0 draft by 1, 8:9 1 correct", 122, 1),
  ]);
}

test("what stands behind the kept beginning waits, and is of the next tree", () => {
  const model = duo();
  const [first, second] = model.trees;
  assert.deepEqual(
    second.nodes.map((x) => x.serial),
    [3, 4, 5, 6, 7],
  );
  assert.deepEqual(second.parents, [-1, 0, 0, 1, 2]);
  assert.equal(model.tokens.get(3).tGone, null);
  assert.equal(model.tokens.get(2).tGone, 60);
  assert.deepEqual(
    [4, 5, 6].map((x) => model.tokens.get(x).at),
    [2, 2, 3],
  );
  assert.equal(fate(model.tokens.get(3), 100), "waiting");
  assert.equal(fate(model.tokens.get(3), 130), "kept");
  assert.equal(fate(model.tokens.get(6), 130), "lost");
  assert.equal(first.rows, 2);
  assert.deepEqual(model.committed, [1, 3, 8]);
});

test("a place is named by the token that it stands behind", () => {
  const model = duo();
  assert.equal(model.tokens.get(4).fork.parent, 3);
  assert.equal(model.tokens.get(5).fork.parent, 3);
  assert.equal(model.tokens.get(8).fork.parent, 3);
});

test("a tree that is rooted anew carries on what was grown behind the root", () => {
  const model = modelOf([
    reckoned(),
    treeFrom(draft(0, "0:1 1:2 2:3 3:4 4:5 5:6", 0, 60), [-1, -1, 0, 0, 1, 1]),
    dropping(verify(1, 0, "0:1x 1:2+", 0, 50), 2, 3),
    commit(0, "1:2 0 draft by 1", 62),
    treeFrom(draft(1, "6:7 7:8", 62, 90, 1), [-1, -1], [4, 4]),
    verify(1, 1, "4:5+ 5:6. 6:7x 7:8+", 62, 110, 1),
    commit(1, "4:5 0 draft by 1, 7:8 0 draft by 1", 112, 1),
  ]);
  const [, second] = model.trees;
  assert.deepEqual(
    second.nodes.map((x) => [x.serial, x.at]),
    [
      [4, 1],
      [5, 1],
      [6, 2],
      [7, 2],
    ],
  );
  assert.deepEqual(second.parents, [-1, -1, 0, 0]);
  assert.deepEqual(
    [4, 5, 6, 7].map((x) => fate(model.tokens.get(x), 120)),
    ["kept", "unasked", "rejected", "kept"],
  );
  assert.deepEqual(model.committed, [1, 4, 7]);
});

test("what waits is judged without a new draft, and is gone when the run is cut", () => {
  const start = [
    reckoned(),
    treeFrom(draft(0, "0:1 1:2 2:3 3:4", 0, 60), [-1, -1, 0, 2]),
    { ...verify(1, 0, "0:1+ 1:2.", 0, 50) },
    commit(0, "0:1 0 draft by 1", 62),
  ];
  const judged = modelOf([
    ...start,
    { ...verify(1, 1, "2:3x 3:4.", 62, 110, 1) },
    drawn("correct", 1, 1, 4, 9, 111, 1),
    commit(1, "4:9 1 correct", 112, 1),
  ]);
  assert.equal(fate(judged.tokens.get(2), 120), "rejected");
  assert.equal(judged.tokens.get(3).lostWith, 2);
  const cut = modelOf([...start, { event: "footer", totals: [] }]);
  assert.equal(cut.tokens.get(2).tGone, 62);
});
