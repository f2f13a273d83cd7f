// Claims about the page's address. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { fields, read, write } from "../../assets/js/shared/visit/address.js";

const KNOWN = fields({
  prompt: 20,
  temperature: [0, 2],
  top_k: [0, 100],
  top_p: [0.05, 1],
  seed: [0, 99],
  max_new_tokens: [1, 256],
});
const DEFAULTS = { preset: "smollm2", temperature: 0, seed: 0, raw: false, baseline: true, ghosts: "show", prompt: "" };

test("what is valid is taken as what it means, what is not is named and left out", () => {
  const { given, refused } = read(
    "?preset=toy&temperature=0.7&top_k=40&raw=1&baseline=0&ghosts=hide&top_p=7&seed=1.5&detail=all",
    KNOWN,
  );
  assert.deepEqual(given, { preset: "toy", temperature: 0.7, top_k: 40, raw: true, baseline: false, ghosts: "hide" });
  assert.deepEqual(refused, ["top_p=7", "seed=1.5", "detail=all"]);
});

test("numbers that are none, a flag that is neither and text that is too long are refused", () => {
  for (const query of [
    "seed=",
    "seed=%20",
    "seed=NaN",
    "seed=1e3",
    "seed=-1",
    "temperature=Infinity",
    "raw=true",
    `prompt=${"x".repeat(21)}`,
  ]) {
    const { given, refused } = read(query, KNOWN);
    assert.deepEqual([given, refused.length], [{}, 1], query);
  }
});

test("a refused value is cut, so that a long address makes no long message", () => {
  assert.deepEqual(read(`?seed=${"9".repeat(500)}`, KNOWN).refused, [`seed=${"9".repeat(40)}`]);
});

test("parameters of others, and names that every object has, are passed over", () => {
  assert.deepEqual(read("?__theme=dark&constructor=1&__proto__=2", KNOWN), { given: {}, refused: [] });
  assert.equal(write("?__theme=dark&seed=3", { seed: 0 }, DEFAULTS, KNOWN), "?__theme=dark");
});

test("what equals its default is left out; flags are written as 1 and 0", () => {
  const settings = { ...DEFAULTS, temperature: 0.7, raw: true, baseline: false, ghosts: "show" };
  assert.equal(write("", settings, DEFAULTS, KNOWN), "?temperature=0.7&raw=1&baseline=0");
  assert.equal(write("?seed=3", DEFAULTS, DEFAULTS, KNOWN), "");
});

test("what is written is read back", () => {
  const settings = {
    preset: "toy",
    stack: "ngram:2,target@rule=block",
    prompt: "a & b?=ü",
    temperature: 1.25,
    seed: 9,
    raw: true,
    colour: "time",
  };
  assert.deepEqual(read(write("", settings, {}, KNOWN), KNOWN), { given: settings, refused: [] });
});

test("a prompt that is too long for an address is not in it", () => {
  assert.equal(write("?prompt=old", { prompt: "x".repeat(1501) }, DEFAULTS, KNOWN), "");
  assert.equal(write("", { prompt: "x".repeat(1500) }, DEFAULTS, KNOWN).length, "?prompt=".length + 1500);
});
