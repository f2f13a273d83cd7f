// Claims about the Atlas: where systems lie, which a filter leaves, and what their drawings show. Run: node --test tests/js

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import {
  ALL,
  beside,
  exactly,
  filters,
  neighbours,
  ordered,
  passes,
  runsHere,
  says,
} from "../../assets/js/tabs/atlas/by-question.js";
import {
  tokensOf,
  writtenBy,
  bodyFrom,
  linesOf,
  nodesOf,
  shapeOf,
  sizeOf,
  shapeSaid,
} from "../../assets/js/tabs/atlas/shape.js";
import { grammar } from "../../assets/js/shared/levels/kinds.js";
import { BENCHMARKS, DRAWN, HOW, SYSTEM, WHO } from "../../assets/text/en/atlas.js";
import "../app/js/build.mjs"; // declares the kinds

const FOLDER = new URL("../../assets/systems/", import.meta.url);
/** @type {import("../../assets/js/tabs/atlas/by-question.js").System[]} */
const SYSTEMS = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".json"))
  .map((name) => ({
    id: name.slice(0, -5),
    ours: [],
    here: "",
    preset: "smollm2",
    ...JSON.parse(readFileSync(new URL(name, FOLDER), "utf8")),
  }));
const [ROWS, COLUMNS] = [Object.keys(WHO), Object.keys(HOW)];
const named = (/** @type {string} */ id) => /** @type {(typeof SYSTEMS)[0]} */ (SYSTEMS.find((one) => one.id === id));

test("every system lies in one cell of the map, and the arrows lead through all of them", () => {
  const list = ordered(SYSTEMS, ROWS, COLUMNS);
  for (const { id, who_drafts, how_judged } of list) assert.ok(WHO[who_drafts] && HOW[how_judged], id);
  const seen = new Set();
  for (let at = list[0]; !seen.has(at.id); at = beside(list, at).after) seen.add(at.id);
  assert.equal(seen.size, SYSTEMS.length);
  assert.equal(beside(list, list[0]).before, list.at(-1));
  assert.equal(beside(list, beside(list, list[3]).after).before, list[3]);
});

test("rows come first, then columns, then years", () => {
  const list = ordered(SYSTEMS, ROWS, COLUMNS);
  const rank = list.map((one) => [ROWS.indexOf(one.who_drafts), COLUMNS.indexOf(one.how_judged), one.year]);
  const numbers = rank.map(([row, column, year]) => row * 1e6 + column * 1e5 + year);
  assert.deepEqual(
    numbers,
    [...numbers].sort((a, b) => a - b),
  );
});

test("a filter leaves what it says, and none leaves all", () => {
  const left = (/** @type {any} */ some) => SYSTEMS.filter((one) => passes(one, { ...ALL, ...some }));
  assert.equal(left({}).length, SYSTEMS.length);
  assert.ok(!filters(ALL) && filters({ ...ALL, here: true }));
  assert.ok(left({ who: "exits" }).every((one) => one.who_drafts === "exits") && left({ who: "exits" }).length > 5);
  assert.ok(left({ here: true }).every((one) => one.stack));
  for (const exact of ["yes", "no", "open"]) assert.ok(left({ exact }).every((one) => exactly(one) === exact));
  assert.equal(
    left({ exact: "yes" }).length + left({ exact: "no" }).length + left({ exact: "open" }).length,
    SYSTEMS.length,
  );
  assert.deepEqual(
    left({ find: "PEARL 2024" }).map((one) => one.id),
    ["pearl"],
  );
  assert.deepEqual(
    left({ find: "2510.19705" }).map((one) => one.id),
    ["hsd"],
  );
  assert.equal(left({ find: "no such thing" }).length, 0);
});

test("what people look for is found by the names that they know", () => {
  const found = (/** @type {string} */ find) =>
    SYSTEMS.filter((one) => passes(one, { ...ALL, find })).map(({ id }) => id);
  for (const [find, id] of [
    ["DFlash", "dflash"],
    ["EAGLE3", "eagle-3"],
    ["eagle-3", "eagle-3"],
    ["CATS", "cats"],
    ["mtp", "mtp"],
    ["Suffix Decoding", "suffix"],
    ["multi-token prediction", "mtp"],
    ["sam", "sam-decoding"],
    ["Token Recycling", "token-recycling"],
  ])
    assert.ok(found(find).includes(id), `${find}: ${found(find)}`);
  assert.ok(found("Spec-Bench").length > 12, "by what a figure was measured on");
  const benchmarks = BENCHMARKS.all.filter((one) => says(Object.values(one).join(" "), "speed-bench"));
  assert.deepEqual(
    benchmarks.map(({ name }) => name),
    ["SPEED-Bench"],
  );
});

test("what needs something first does not run here as it stands", () => {
  const [one] = SYSTEMS.filter(({ stack }) => stack);
  assert.equal(runsHere(one), "true");
  assert.equal(runsHere({ ...one, first: "" }), "true");
  const needs = { ...one, first: "A GPU: there is none here." };
  assert.equal(runsHere(needs), "first");
  assert.ok(passes(needs, ALL) && !passes(needs, { ...ALL, here: true }));
  assert.equal(runsHere({ ...needs, stack: null }), "false");
});

test("a card says of every ratio what it is over, and up to where it is the largest", () => {
  const said = (/** @type {string} */ id) => named(id).headline?.figures.map(SYSTEM.reported);
  assert.deepEqual(said("pyramidsd"), ["up to 1.91\u00d7 speculative decoding with one draft"]);
  assert.deepEqual(said("kangaroo"), ["up to 1.68\u00d7 plain decoding on Spec-Bench"]);
  assert.deepEqual(said("ead"), ["96.7 % of the quality with 43 % of the tokens from the large model"]);
  const times = SYSTEMS.flatMap((one) => one.headline?.figures.map(SYSTEM.reported) ?? []).filter((text) =>
    text.includes("\u00d7"),
  );
  assert.ok(times.length > 40);
  for (const text of times) assert.match(text, /\d\u00d7 [a-z]/, text);
});

test("a figure of ours names its benchmark, or that it is one recording", () => {
  assert.equal(SYSTEM.on("a machine", 12, "some-bench"), "a machine, 12 prompts of the benchmark some-bench");
  assert.equal(SYSTEM.on("a machine", 1, null), "a machine, its recording, one prompt");
});

test("a system names only neighbours that are there, and never itself", () => {
  for (const one of SYSTEMS) {
    const found = neighbours(SYSTEMS, one);
    assert.equal(found.length, Object.keys(one.near).length, one.id);
    assert.ok(
      found.every(({ system }) => system !== one),
      one.id,
    );
  }
});

test("a shape is read from the ground up", () => {
  const { floors, lanes } = shapeOf("ngram3 > tree 3.1 > exit > chain 2 > target | lanes step");
  assert.deepEqual(
    floors.map(({ kind, times }) => [kind, times]),
    [
      ["ngram", 3],
      ["exit", 1],
      ["target", 1],
    ],
  );
  assert.deepEqual(
    floors.map(({ hand }) => hand?.form ?? null),
    ["tree", "chain", null],
  );
  assert.equal(lanes, "step");
  assert.deepEqual(shapeOf("nano+ngram > chain 2 > target").floors[0].others, ["ngram"]);
  assert.equal(bodyFrom(floors), 1, "exits stand in the target's body");
  assert.deepEqual(shapeOf("cells 6 > target").floors[0], {
    kind: "",
    others: [],
    times: 1,
    hand: { form: "cells", widths: [6] },
  });
});

test("a tree's nodes stand behind their parents, each leaf on a line of its own", () => {
  const tree = /** @type {const} */ ({ form: "tree", widths: [3, 2, 1] });
  const nodes = nodesOf({ ...tree, widths: [...tree.widths] });
  nodes.forEach(({ depth, parent }, i) => {
    assert.ok(parent < i && (parent < 0 ? depth === 0 : nodes[parent].depth === depth - 1));
  });
  const leaves = nodes.filter((_, i) => !nodes.some(({ parent }) => parent === i));
  assert.equal(new Set(leaves.map(({ at }) => at)).size, leaves.length);
  assert.equal(linesOf({ form: "tree", widths: [3, 2, 1] }), leaves.length);
  assert.equal(sizeOf({ form: "tree", widths: [3, 2, 1] }), 3 + 6 + 6);
  assert.equal(linesOf({ form: "comb", widths: [3, 2] }), 3);
});

test("every drawing can be drawn and said, and something of each draft is kept", () => {
  for (const one of SYSTEMS) {
    const { floors } = shapeOf(one.shape);
    const loosely = one.how_judged === "loosely";
    for (const { kind } of floors)
      assert.ok(kind === "" || DRAWN.floor[kind] || grammar.kinds.has(kind), `${one.id}: ${kind}`);
    floors.slice(0, -1).forEach(({ hand }, i) => {
      const fates = tokensOf(floors, i, loosely).map(({ fate }) => fate);
      assert.ok(!hand || fates.includes("kept"), one.id);
      assert.ok(!loosely || !fates.includes("rejected"), `${one.id}: a loose rule rejects nothing in its drawing`);
    });
    assert.equal(
      writtenBy(floors, loosely).at(-1),
      floors.length > 1 && !floors.at(-2)?.hand ? 0 : floors.length - 1,
      one.id,
    );
    assert.match(shapeSaid(one), /^[A-Z\d].*\.$/, one.id);
  }
  assert.equal(
    shapeSaid(named("hsd")),
    "Lookups: 3 tokens, judged by an 8-bit copy. An 8-bit copy: 6 tokens, judged by the target. The top row is what is written.",
  );
});

test("a loose rule is what makes a system not exact", () => {
  for (const one of SYSTEMS) assert.equal(one.how_judged === "loosely", exactly(one) === "no", one.id);
});
