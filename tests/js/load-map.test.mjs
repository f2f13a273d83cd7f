// Claims about the map of levels by load. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { LOAD } from "../../assets/text/en/load.js";
import {
  cellOf,
  fastestMeasured,
  mapPlaces,
  readDrops,
  readLoad,
  readUnused,
  stretches,
  usedLevels,
} from "../../assets/js/shared/plots/load-map.js";

/** @returns {any} */
const row = (
  /** @type {number} */ load,
  /** @type {string[]} */ levels,
  /** @type {number[]} */ blocks,
  more = {},
) => ({
  ...{ load, levels, blocks, tree: [], stack: levels.join(","), runs: true, speedup: 2, rate: 20, plain: 10 },
  ...{ left: [], computed: [] },
  ...more,
});
const ALL = ["lookups", "nano", "int8", "target"];
/** @type {any} */
const MAP = {
  about: { machine: "here", recorded: "2026-11-27", assumed: false },
  levels: ALL.map((name) => ({ name, kind: name })),
  rows: [
    row(1, ["lookups", "int8", "target"], [3, 5], { tree: [2, 1, 1] }),
    row(2, ["int8", "target"], [4]),
    row(4, ["lookups", "int8", "target"], [1, 2]),
    row(8, ["lookups", "target"], [1], { left: ["int8"], speedup: 1.1 }),
    row(16, ["target"], [], { left: ["lookups"], speedup: 1 }),
  ],
  passes: null,
  measured: null,
};
const LOOKS = /** @type {any} */ (new Map([["int8", { name: "8-bit copy", tag: "Q" }]]));

test("a cell has the block length of its level, and none where the level is not in the stack", () => {
  const cells = MAP.rows.map((/** @type {any} */ one) => ALL.map((name) => cellOf(one, name)));
  assert.deepEqual(cells, [
    ["tree 2.1.1", "", "5", "approves"],
    ["", "", "4", "approves"],
    ["1", "", "2", "approves"],
    ["1", "", "", "approves"],
    ["", "", "", "alone"],
  ]);
});

test("the target is on top, and what no best stack has is told apart", () => {
  assert.deepEqual(usedLevels(MAP), { used: ["target", "int8", "lookups"], unused: ["nano"] });
  assert.equal(readDrops(MAP, LOOKS), "Dropping out: 8-bit copy at 8 and lookups at 16 requests.");
  assert.equal(readUnused(MAP, LOOKS), "In no best stack: nano.");
});

test("a bar goes on over neighbouring loads alone", () => {
  assert.deepEqual(stretches(MAP.rows, "lookups"), [
    [0, 0],
    [2, 3],
  ]);
  assert.deepEqual(stretches(MAP.rows, "nano"), []);
});

test("a place in the picture is the load of its column, at every width", () => {
  for (const wide of [300, 900]) {
    const { x, at, column, left } = mapPlaces(MAP, LOOKS, wide);
    MAP.rows.forEach((/** @type {any} */ _, /** @type {number} */ i) => {
      assert.equal(at(x(i) - 0.4 * column), i);
      assert.equal(at(x(i) + 0.4 * column), i);
    });
    assert.equal(at(left - 20), 0);
    assert.equal(at(wide + 50), MAP.rows.length - 1);
  }
});

test("of what was measured at a load the fastest stack is marked, plain decoding apart", () => {
  const ran = (/** @type {string} */ stack, /** @type {number} */ load, /** @type {number} */ speed_up) => ({
    stack,
    load,
    speed_up,
  });
  const rows = [ran("target", 1, 1), ran("a:3,target", 1, 0.9), ran("b:3,target", 1, 0.8), ran("b:3,target", 3, 2)];
  const found = fastestMeasured({ ...MAP, measured: { about: {}, rows } });
  assert.deepEqual(found, [ran("a:3,target", 1, 0.9)]);
  assert.deepEqual(fastestMeasured(MAP), []);
});

test("the picture says whose costs it has, and when many requests' were measured", () => {
  const passes = { machine: "here", recorded: "2026-11-28T10:00" };
  assert.deepEqual(LOAD.credit(MAP.about, passes), ["here, 2026-11-27", "passes of many requests measured 2026-11-28"]);
  assert.match(LOAD.credit(MAP.about, { ...passes, machine: "there" })[1], /measured there, 2026-11-28$/);
  assert.match(LOAD.credit(MAP.about, null)[1], /computed$/);
  assert.deepEqual(LOAD.credit({ ...MAP.about, assumed: true }, null), ["computed for here, not measured"]);
});

test("a load is read with its levels and blocks, and plain decoding where nothing is faster", () => {
  const [first, second] = readLoad(MAP, LOOKS, 0);
  assert.equal(first, "One request alone: the best stack is 2.00 times as fast as plain decoding.");
  assert.ok(second.includes("lookups (tree 2.1.1) and 8-bit copy (block of 5)"), second);
  assert.match(readLoad(MAP, LOOKS, 4)[0], /16 requests at once: no stack is faster/);
});
