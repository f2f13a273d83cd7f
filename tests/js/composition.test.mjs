// Claims about taking back changes of the stack that is composed. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import "../app/js/build.mjs";
import { Composition } from "../../assets/js/tabs/explore/tower/composition.js";

const STACK = "ngram:3,int8:6,target";

function composed() {
  const it = new Composition([], /** @type {any} */ ({ of: () => new Map() }));
  it.set(STACK);
  return it;
}

test("each change is taken back, the last one first, and then there is none", () => {
  const it = composed();
  it.levels[0].block = 9;
  it.edited();
  it.move(0, 1);
  it.edited();
  it.levels.splice(0, 1);
  it.edited();
  const seen = [it.stack];
  while (it.undo()) seen.push(it.stack);
  assert.deepEqual(seen, ["ngram:9,target", "int8:6,ngram:9,target", "ngram:9,int8:6,target", STACK]);
});

test("a level that is switched off is one change, and what changes nothing is none", () => {
  const it = composed();
  it.edited();
  assert.equal(it.undo(), false);
  it.levels[1].on = false;
  it.edited();
  assert.equal(it.stack, "ngram:3,target");
  assert.ok(it.undo());
  assert.equal(it.stack, STACK);
});

test("a ready-made stack that was chosen can be taken back; another run's stack begins anew", () => {
  const it = composed();
  it.choose("int8:4,target");
  it.undo();
  assert.equal(it.stack, STACK);
  it.choose("int8:4,target");
  it.set("ngram:2,target");
  assert.equal(it.undo(), false);
  assert.equal(it.stack, "ngram:2,target");
});

test("levels change places below the target, which stays where it is", () => {
  const it = composed();
  assert.equal(it.move(0, 2), false);
  assert.equal(it.move(2, 0), false);
  assert.equal(it.stack, STACK);
  assert.ok(it.move(1, 0));
  assert.equal(it.stack, "int8:6,ngram:3,target");
});
