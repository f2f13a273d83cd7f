// Claims about the cells of a masked draft. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { roundOf } from "../../assets/js/shared/anatomy/round.js";
import { cellsOf } from "../../assets/js/systems/masked/masked.js";
import { commit, draft, drawn, header, modelOf, piece, verify } from "../app/js/build.mjs";

test("a cell has its candidates, the one that went up, the pass that filled it, and what became of it", () => {
  const columns = [
    [
      [0, 0.5],
      [1, 0.25],
    ],
    [[2, 0.75]],
    [[3, 1]], // behind an end of the text: nothing of it went up
  ];
  const lattice = (/** @type {any} */ event) => ({ ...event, notes: { lattice: { passes: [0, 1], columns } } });
  const model = modelOf([
    header("masked", "target"),
    ...["a", "b", "c", "d"].map((x, i) => piece(i, x)),
    lattice(draft(0, "0:1 1:2", 0, 30)),
    verify(1, 0, "0:1+ 1:2x", 30, 60),
    drawn("correct", 1, 2, 3, 3, 61),
    commit(0, "0:1 0 draft, 2:3 1 correct", 62),
  ]);
  const [call] = roundOf(model, 0).calls;
  const cells = cellsOf(model, call, 62);
  assert.deepEqual(
    cells.map(({ pass, state }) => [pass, state]),
    [
      [0, "accepted"],
      [1, "rejected"],
      [0, ""],
    ],
  );
  assert.deepEqual(cells[0].candidates, [
    { text: "a", share: 0.5, went: false },
    { text: "b", share: 0.25, went: true },
  ]);
  assert.equal(cells[2].candidates[0].went, false);
  const plain = modelOf([
    header("nano", "target"),
    piece(0, "a"),
    draft(0, "0:0", 0, 30),
    verify(1, 0, "0:0+", 30, 60),
    commit(0, "0:0 0 draft", 62),
  ]);
  assert.deepEqual(cellsOf(plain, roundOf(plain, 0).calls[0], 62), []);
});
