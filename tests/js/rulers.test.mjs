// Claims about two tokenizers over one line of text. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { roundOf } from "../../assets/js/shared/anatomy/round.js";
import { draftAt, rulers } from "../../assets/js/systems/cross/cross.js";
import { commit, draft, drawn, header, modelOf, piece, verify } from "../app/js/build.mjs";

const own = (event, ...lengths) => ({ ...event, notes: { ruler: { bytes: lengths } } });
const states = (found) => found.target.map((x) => x.state);

test("ends that both have go through, others stand on one ruler alone; what was accepted is known by its token", () => {
  const model = modelOf([
    header("cross", "target"),
    ...[" sc", "atter", "ing", "!", "?"].map((x, i) => piece(i, x)),
    own(draft(0, "0:0 1:1 2:2", 0, 30), 8, 1, 2),
    verify(1, 0, "0:0+ 1:1+ 2:2x", 30, 60),
    drawn("correct", 1, 2, 4, 4, 61),
    commit(0, "0:0 0 draft, 1:1 0 draft, 4:4 1 correct", 62),
  ]);
  const round = roundOf(model, 0);
  const call = draftAt(round, null, 62);
  const found = rulers(model, call, 62);
  assert.deepEqual(found.columns, ["\u00b7sc", "atter", "i", "ng"]);
  assert.deepEqual(
    found.own.map((x) => [x.from, x.to, x.text]),
    [
      [0, 2, "\u00b7scatter"],
      [2, 3, "i"],
      [3, 4, "ng"],
    ],
  );
  assert.deepEqual(
    found.target.map((x) => [x.from, x.to]),
    [
      [0, 1],
      [1, 2],
      [2, 4],
    ],
  );
  assert.deepEqual(found.shared, [0, 2, 4]);
  assert.deepEqual(states(found), ["accepted", "accepted", "rejected"]);
  assert.deepEqual(states(rulers(model, call, 30)), ["waiting", "waiting", "waiting"], "nothing is judged yet");
  assert.equal(found.rest, 0);
});

test("a character of several tokens stands once, and bytes that did not go up are counted", () => {
  const model = modelOf([
    header("cross", "target"),
    piece(0, "a"),
    piece(1, [0xf0, 0x9f, 0x91]),
    piece(2, [0x8d]),
    own(draft(0, "0:0 1:1 2:2", 0, 30), 1, 4, 2, 0),
    verify(1, 0, "0:0+ 1:1+ 2:2+", 30, 60),
    commit(0, "0:0 0 draft, 1:1 0 draft, 2:2 0 draft", 62),
  ]);
  const found = rulers(model, draftAt(roundOf(model, 0), null, 62), 62);
  assert.deepEqual(found.columns, ["a", "\u{1f44d}", "", ""]);
  assert.equal(found.rest, 2);
  assert.equal(found.own.length, 3, "a token without bytes has no place on a ruler");
  assert.deepEqual(found.shared, [0, 1, 3]);
});

test("a draft in the target's own tokens has no rulers", () => {
  const model = modelOf([
    header("nano", "target"),
    piece(0, "a"),
    draft(0, "0:0", 0, 30),
    verify(1, 0, "0:0+", 30, 60),
    commit(0, "0:0 0 draft", 62),
  ]);
  assert.equal(draftAt(roundOf(model, 0), null, 62), null);
});
