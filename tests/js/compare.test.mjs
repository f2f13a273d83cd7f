/** Which two recordings are compared where nobody chose them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { firstPair, pairOf } from "../../assets/js/tabs/race/compare.js";
import { otherOrder } from "../../assets/js/tabs/race/race-says.js";
import { SAID } from "../../assets/text/en/race.js";

const MENU = [
  { name: "a", asked: "one" },
  { name: "broken", asked: "one", reason: "damaged" },
  { name: "b", asked: "two" },
  { name: "c", asked: "two" },
  { name: "d", asked: "one" },
];

test("two recordings of one prompt, the first that has another", () => {
  assert.deepEqual(firstPair(MENU), ["a", "d"]);
  assert.deepEqual(firstPair(MENU.slice(0, 4)), ["b", "c"]);
  assert.deepEqual(firstPair(MENU.slice(0, 3)), ["a", "b"], "where no prompt has two");
});

test("an address names both, or one whose partner is found", () => {
  assert.deepEqual(pairOf("a,b", MENU), ["a", "b"], "also of two prompts");
  assert.deepEqual(pairOf("c", MENU), ["c", "b"]);
  for (const text of ["", "a,", "a,nobody", "nobody", "a,b,c", "a,broken", "broken", null])
    assert.equal(pairOf(text, MENU), null, String(text));
});

test("a lane on a reckoned clock has no place, moves nobody, and its clock stands at what it is compared with", () => {
  const took = (/** @type {number} */ ns) => ({ tokens: 10, decode_ns: ns });
  const race = { shown: 0, repeats: [[took(30), took(10), took(20)]] };
  assert.equal(otherOrder(race, [{ place: 2 }, { place: null }, { place: 1 }]), false);
  assert.equal(otherOrder(race, [{ place: 1 }, { place: null }, { place: 2 }]), true);
  assert.equal(SAID.place(null), "\u2013");
  assert.equal(SAID.clocks(["reckoned", ""]), "reckoned");
  assert.equal(SAID.clocks(["real", "reckoned", "real"]), "real and reckoned");
  assert.equal(SAID.clocks(["", undefined]), "");
});
