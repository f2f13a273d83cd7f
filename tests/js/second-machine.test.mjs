// Claims about the map of where a second machine pays. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  mapScales,
  bandOf,
  gainAt,
  labelled,
  paysAt,
  stretches,
  together,
} from "../../assets/js/systems/lanes/gain-map.js";
import { SECOND } from "../../assets/js/systems/lanes/words.js";

const MAP = {
  shares: [0.1, 0.2, 0.3],
  agreements: [0.5, 0.6],
  gains: [
    [0.79, 0.99, 1],
    [0.9, 1.1, 1.3],
  ],
};

test("a gain stands in the band whose edges it lies between, and about 1 is a band of its own", () => {
  assert.deepEqual(
    [0.5, 0.8, 0.899, 0.9, 0.99, 1, 1.004, 1.01, 1.1, 1.299, 1.3, 1.8].map(bandOf),
    [0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 7],
  );
  assert.deepEqual([0.9, 1.002, 1.2].map(paysAt), ["no", "even", "yes"]);
});

test("the drawn stretches of a row are its gains, none left out", () => {
  const row = [0.7, 0.75, 0.85, 1.05, 1.06, 1.4];
  assert.deepEqual(stretches(row), [
    [0, 0, 2],
    [1, 2, 1],
    [4, 3, 2],
    [7, 5, 1],
  ]);
  const drawn = stretches(row).flatMap(([band, , count]) => Array(count).fill(band));
  assert.deepEqual(drawn, row.map(bandOf));
});

test("a place of the picture has the numbers of its cell", () => {
  const { x, y, at, cell } = mapScales(MAP, 600, 300);
  for (const [i, agreement] of MAP.agreements.entries())
    for (const [j, share] of MAP.shares.entries()) {
      const found = at(x(share) + 0.3 * cell.w, y(agreement) - 0.3 * cell.h);
      assert.equal(gainAt(MAP, found.share, found.agreement), MAP.gains[i][j]);
    }
  assert.ok(x(0.3) > x(0.1) && y(0.6) < y(0.5), "dearer to the right, better upwards");
  assert.equal(x(7), x(0.35), "what lies beyond stands at the edge");
});

test("no label covers another one, or a point", () => {
  const of = (/** @type {number} */ x, /** @type {number} */ y, /** @type {string} */ text) => ({ x, y, text });
  const points = [of(10, 10, "int8"), of(200, 10, "nano"), of(15, 12, "int4"), of(30, 11, "exit"), of(590, 10, "exit")];
  const found = labelled(points, 600);
  assert.equal(found[4].before, true, "at the right edge it ends at its point");
  const boxes = found.map(({ x, y, text, before }) => [before ? x - 7 * text.length : x, y, 7 * text.length]);
  boxes.forEach(([x, y, w], i) => {
    for (const [other, on, long] of boxes.slice(i + 1))
      assert.ok(x + w <= other || other + long <= x || Math.abs(y - on) >= 15);
    for (const { x: px, y: py } of points) assert.ok(x + w <= px - 7 || px + 7 <= x || Math.abs(y - py - 4) >= 15);
  });
});

test("of two schedules the quicker one speaks for a drafter", () => {
  const drafter = /** @type {any} */ ({ pearl: { ms: 14, stack: "p" }, ahead: { ms: 15, stack: "a" } });
  assert.equal(together(drafter).stack, "p");
  assert.equal(together({ ...drafter, pearl: { ms: 16 } }).stack, "a");
});

test("a draft that loses is told so, with the numbers why", () => {
  assert.equal(
    SECOND.loses("nano", "22.8", "21.4"),
    "Do not overlap nano: 22.8 ms a token on two machines, 21.4 on one.",
  );
  assert.match(SECOND.because(0.079, 0.39, [0.185, 0.56]), /costs 7\.9 %.*accepts 39 %.*pays from 19 % on/);
  assert.match(SECOND.because(0.7, 0.39, [0.185, 0.56]), /up to 56 % at most/);
  assert.match(SECOND.because(0.3, 0.1, null), /pays at no cost/);
});

test("a cell lies around its own numbers: half of it on either side", () => {
  const { x, y, cell } = mapScales(MAP, 600, 300);
  const [left, right] = [x(-1), x(9)];
  assert.ok(Math.abs(x(MAP.shares[0]) - (left + cell.w / 2)) < 1e-9);
  assert.ok(Math.abs(x(MAP.shares[2]) - (right - cell.w / 2)) < 1e-9);
  assert.ok(Math.abs(y(MAP.agreements[1]) - (y(9) + cell.h / 2)) < 1e-9);
});
