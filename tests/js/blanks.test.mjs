/** Blanks: a block read from a run's tokens, and laws that are computed over all texts. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { blockAfter, fillingOf } from "../../assets/js/systems/canvas/block.js";
import { apart, apd, believed, CELLS, joint, marginals } from "../../assets/js/systems/canvas/law.js";

const near = (/** @type {number} */ a, /** @type {number} */ b) =>
  assert.ok(Math.abs(a - b) < 1e-12, `${a} is not ${b}`);

test("a token is a word and its cell", () => {
  assert.deepEqual(fillingOf("cat\u2081\u2082\u00b7"), { word: "cat", cell: 11 });
  assert.equal(fillingOf("cat"), null);
});

test("a block has the prompt's words, what passes filled, and its blanks", () => {
  const texts = ["", "the\u2081 ", "cat\u2083 ", ...Array.from({ length: 16 }, (_, i) => `w${i}\u2084 `)];
  const model = /** @type {any} */ ({
    header: { prompt_ids: [0, 1] },
    committed: [7],
    tokens: new Map([[7, { id: 2, round: 3, level: 0 }]]),
    pieceText: (/** @type {number} */ id) => texts[id],
  });
  const { full, cells } = blockAfter(model, 1);
  assert.equal(full, 0);
  const [first, second, third] = cells;
  assert.deepEqual([first?.word, first?.serial, second], ["the", null, null]);
  assert.deepEqual([third?.word, third?.serial, third?.pass], ["cat", 7, 3]);
  assert.equal(blockAfter(model, 0).cells[2], null);
});

test("the law of a blank is that of all texts that have the other words", () => {
  const law = joint();
  near(
    [...law.values()].reduce((a, b) => a + b),
    1,
  );
  const canvas = [null, 2, null, null, 1];
  const rows = marginals(canvas);
  const all = [...law].filter(([text]) =>
    text.split(",").every((w, i) => canvas[i] === null || canvas[i] === Number(w)),
  );
  const total = all.reduce((sum, [, mass]) => sum + mass, 0);
  for (const cell of [0, 2, 3])
    for (const word of [0, 1, 2, 3]) {
      const own = all
        .filter(([text]) => Number(text.split(",")[cell]) === word)
        .reduce((sum, [, mass]) => sum + mass, 0);
      near(rows[cell][word], own / total);
    }
});

test("one cell a pass is the right law; with R = 1 cells are independent; R = 0 is nearer to it", () => {
  const right = joint();
  const one = apd(1, 0.5);
  near(one.perPass, 1);
  near(apart(one.law, right), 0);
  const rows = marginals(new Array(CELLS).fill(null));
  const alone = new Map([...right.keys()].map((t) => [t, t.split(",").reduce((p, w, i) => p * rows[i][Number(w)], 1)]));
  const all = apd(CELLS, 1);
  near(all.perPass, CELLS);
  near(apart(all.law, alone), 0);
  const [wrong, some] = [1, 0.5].map((r) => apart(apd(CELLS, r).law, right));
  assert.ok(wrong > 0.5 && wrong < 0.75 && some < wrong, "the lesson says more than half");
  near(
    [...apd(3, 0.5).law.values()].reduce((a, b) => a + b),
    1,
  );
});

test("the noise that drew one row draws an equal one too", () => {
  near(believed([0.2, 0.8], [0.2, 0.8], 0), 1);
  assert.equal(believed([0.2, 0.8], [0, 1], 0), 0);
});
