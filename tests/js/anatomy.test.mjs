// Claims about one round as it stands at a cursor, and about the two lines of the proof. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { caches } from "../../assets/js/shared/anatomy/grid.js";
import {
  choices,
  happened,
  placeOf,
  roundOf,
  settled,
  spotlight,
  stateOf,
} from "../../assets/js/shared/anatomy/round.js";
import { sentence } from "../../assets/js/shared/anatomy/anatomy.js";
import { linesOf, marginOf, nearTie } from "../../assets/js/tabs/explore/proof/lines.js";
import { commit, draft, drawn, header, modelOf, piece, recorded, verify } from "../app/js/build.mjs";

/** N drafts a b c; Q keeps a, rejects b for d; T keeps a d and adds e. */
const SMALL = [
  header("ngram", "int8", "target"),
  ...["a", "b", "c", "d", "e"].map((x, i) => piece(i, x)),
  draft(0, "0:0 1:1 2:2", 0, 30),
  verify(1, 0, "0:0+ 1:1x 2:2.", 30, 60),
  drawn("correct", 1, 1, 3, 3, 61),
  verify(2, 0, "0:0+ 3:3+", 70, 100),
  drawn("bonus", 2, 2, 4, 4, 101),
  commit(0, "0:0 0 draft, 3:3 1 correct, 4:4 2 bonus", 102),
];

test("a round has every call, token and event of its own, each once", () => {
  for (const name of ["01-code", "09-four-levels", "18-auto", "19-what-if"]) {
    const model = modelOf(recorded(name));
    const seen = new Set();
    for (let place = 0; place < model.rounds.length; place++) {
      const round = roundOf(model, place);
      for (const call of round.calls)
        for (const { record, what } of call.tiles) {
          if (what === "check") continue;
          assert.ok(!seen.has(record.serial), `${name}: token ${record.serial} stands twice`);
          seen.add(record.serial);
          assert.ok(record.at >= round.from && record.at < round.from + round.columns);
        }
      for (const level of model.levels) {
        const taken = new Set();
        for (const call of round.calls.filter((c) => c.segment.level === level.index))
          for (const tile of call.tiles) {
            const cell = `${tile.record.at} ${call.row + tile.branch}`;
            assert.ok(!taken.has(cell), `${name}: two tiles at ${cell} of ${level.tag} in round ${place}`);
            taken.add(cell);
          }
      }
      assert.equal(round.happenings.at(-1).kind, "commit");
    }
    assert.equal(seen.size, model.tokens.size, name);
  }
});

test("what a verifier draws, and what its cache becomes, belong to its verdict", () => {
  const model = modelOf(SMALL);
  const round = roundOf(model, 0);
  const [, q] = round.calls;
  assert.deepEqual(
    q.tiles.map((x) => [x.record.serial, x.what]),
    [
      [0, "check"],
      [1, "check"],
      [3, "own"],
      [2, "check"],
    ],
  );
  assert.equal(settled(model, 45), 45, "within a call nothing is known of its end");
  assert.equal(settled(model, 60), 69);
  const states = (at) => q.tiles.map((tile) => stateOf(model, tile, q, at));
  assert.deepEqual(states(45), ["asked", "asked", "future", "asked"]);
  assert.deepEqual(states(settled(model, 60)), ["accepted", "rejected", "waiting", "unjudged"]);
  assert.deepEqual([placeOf(model, 0), placeOf(model, 102)], [0, 0]);
});

test("an event is about the token that was rejected; other ones can be chosen in order of place", () => {
  const model = modelOf(SMALL);
  const round = roundOf(model, 0);
  assert.deepEqual([happened(round, 0), happened(round, 60), happened(round, 102)], [-1, 1, 3]);
  assert.deepEqual(
    [30, 60, 100].map((t) => spotlight(round, t).serial),
    [2, 1, 3],
  );
  assert.deepEqual(
    choices(round, 69).map((x) => x.serial),
    [0, 1, 3, 2],
  );
});

test("events are told in sentences", () => {
  const model = modelOf(SMALL);
  const round = roundOf(model, 0);
  const said = round.happenings.map((x) => sentence(model, round, x));
  assert.deepEqual(said, [
    "N proposes 3 tokens: \u201ca\u201d \u201cb\u201d \u201cc\u201d.",
    "Q keeps 1 of 3, rejects \u201cb\u201d (1 not judged), and writes \u201cd\u201d instead.",
    "T keeps all 2, and writes \u201ce\u201d as a bonus.",
    "3 tokens committed: they are part of the text now.",
  ]);
});

test("caches are those of the trace before the round and at the moment", () => {
  const model = modelOf(recorded("01-code"));
  const round = roundOf(model, 3);
  const [ngram, copy, target] = caches(model, round, settled(model, round.t1));
  assert.equal(ngram, null);
  for (const cache of [copy, target]) {
    const { cached, catch_up, committed, held } = cache.now;
    assert.equal(cached + catch_up, committed + held);
    assert.equal(held, 0, "after the commit nothing is held");
    assert.ok(cache.now.cached > cache.before.cached);
  }
});

test("plain ids that were recorded are compared one by one", () => {
  const plain = {
    event: "baseline",
    stack: "target",
    prefill_ns: 1,
    token_ns: [1, 2, 3],
    equal: 1,
    diverges: true,
    margin: 0.01,
  };
  const old = linesOf(modelOf([...SMALL, plain]));
  assert.deepEqual(
    old.places.map((x) => x.plain),
    [0, null, null],
    "an old trace knows those that agree",
  );
  assert.deepEqual([old.recorded, old.first, old.margin], [false, 1, 0.01]);
  const now = linesOf(modelOf([...SMALL, { ...plain, ids: [0, 2, 4], margins: [3, 0.01, null] }]));
  assert.deepEqual(
    now.places.map((x) => [x.own, x.plain, x.same]),
    [
      [0, 0, true],
      [3, 2, false],
      [4, 4, true],
    ],
  );
  assert.deepEqual(now.smallest, [1, 0]);
  assert.equal(now.places[1].by, "plain");
});

test("a margin is how far the first choice lies before the second, of the target's own row", () => {
  const judged = (level, ...probs) => ({ level, pRow: { probs } });
  const record = { level: 0, judgements: [judged(1, 0.5, 0.5), judged(2, 0.6, 0.3)] };
  const margin = marginOf(/** @type {any} */ (record), 2);
  assert.ok(Math.abs(margin - Math.log(2)) < 1e-12);
  assert.deepEqual([nearTie(margin), nearTie(0.0005)], [false, true]);
  const own = { level: 2, judgements: [], drawn: { pRow: { probs: [1, 0] } } };
  assert.equal(marginOf(/** @type {any} */ (own), 2), null, "a second choice without any chance has no margin");
});
