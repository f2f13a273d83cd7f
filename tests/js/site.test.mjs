// Claims about what the page without a server looks up. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { priced } from "../../assets/js/site/ahead.js";

const known = [
  { preset: "a", temperature: 0, about: "greedy", prices: { target: { ms: 1 } }, by_length: { target: { ms: 9 } } },
  { preset: "a", temperature: 0.8, about: "drawn", prices: { target: { ms: 2 } }, by_length: {} },
  { preset: "b", about: null, prices: {}, others: { reason: "none" } },
];
const others = { reason: "not ahead" };
const ask = (question) =>
  priced({ known, others }, { preset: "a", device: "", temperature: 0, stacks: ["target"], ...question });

test("a price is the one of its preset and temperature, at the length of a text where that is asked for", () => {
  assert.deepEqual(ask({}), { about: "greedy", prices: [{ ms: 1 }] });
  assert.deepEqual(ask({ temperature: 0.8 }), { about: "drawn", prices: [{ ms: 2 }] });
  assert.deepEqual(ask({ by_length: true }), { about: "greedy", prices: [{ ms: 9 }] });
});

test("what was not worked out says so, by preset where there is more to say", () => {
  assert.deepEqual(ask({ stacks: ["int8:3,target"] }).prices, [others]);
  assert.deepEqual(ask({ preset: "b", temperature: 0.3 }), { about: null, prices: [{ reason: "none" }] });
  assert.deepEqual(ask({ device: "cuda" }), { about: null, prices: [others] });
});
