// Claims about moments and tokens as an address names them. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { placeOfNumber, roundNumber } from "../../assets/js/shared/kit/round-number.js";
import { momentAt, momentOf, tokenAt } from "../../assets/js/shared/share/links.js";

const model = /** @type {any} */ ({
  rounds: [
    { round: 0, t0: 0 },
    { round: 1, t0: 25 },
  ],
  marks: [
    { round: 0, t: 10 },
    { round: 0, t: 20 },
    { round: 1, t: 30 },
  ],
  committed: [5, 6, 7],
  commitTimes: [20, 20, 30],
});

test("a moment opens where its own address was taken, rounds counted from 1", () => {
  assert.deepEqual([0, 1, 7].map(roundNumber).map(placeOfNumber), [0, 1, 7]);
  assert.deepEqual(
    [5, 10, 20, 30, 99].map((cursor) => momentOf(model, cursor)),
    ["1.0", "1.1", "1.2", "2.1", "2.1"],
  );
  for (const ns of [10, 20, 30]) assert.deepEqual(momentAt(model, momentOf(model, ns)), { ns, exact: true });
  assert.deepEqual(momentAt(model, "2"), { ns: 25, exact: true });
});

test("where there is no such moment the nearest one is shown, and that is known", () => {
  assert.deepEqual(momentAt(model, "2.7"), { ns: 30, exact: false });
  assert.deepEqual(momentAt(model, "9.1"), { ns: 30, exact: false });
  assert.equal(momentAt(model, "soon"), null);
});

test("a token is the one at its place, as its card counts; the last one where the text is shorter", () => {
  assert.deepEqual(tokenAt(model, "0"), { serial: 5, ns: 20, exact: true });
  assert.deepEqual(tokenAt(model, "2"), { serial: 7, ns: 30, exact: true });
  assert.deepEqual(tokenAt(model, "3"), { serial: 7, ns: 30, exact: false });
  assert.equal(tokenAt(model, "-1"), null);
});
