// Claims about what is drawn while the page changes quickly. Run: node --test tests/js

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { Haste } from "../../assets/js/tabs/explore/drawing.js";

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
});

function haste() {
  const classes = new Set();
  const root = { classList: { add: (name) => classes.add(name), remove: (name) => classes.delete(name) } };
  const rests = [];
  return { it: new Haste(root, () => rests.push(classes.size)), classes, rests };
}

test("single steps move and draw everything", () => {
  const { it, classes } = haste();
  for (const now of [0, 300, 600, 2000]) assert.equal(it.changed(now), true);
  assert.equal(classes.size, 0);
});

test("quick changes ask for no motion, and draw what is read four times a second", () => {
  const { it, classes } = haste();
  const drawn = Array.from({ length: 101 }, (_, i) => it.changed(20 * i)).filter(Boolean);
  assert.ok(classes.has("hx-swift"));
  assert.ok(drawn.length >= 7 && drawn.length <= 10, `${drawn.length} times in two seconds`);
});

test("when they end, motion is back and everything is drawn once more", () => {
  const { it, classes, rests } = haste();
  for (const now of [0, 50, 100]) it.changed(now);
  mock.timers.tick(499);
  assert.deepEqual([classes.size, rests], [1, []]);
  mock.timers.tick(1);
  assert.deepEqual([classes.size, rests, it.on], [0, [0], false]);
});

test("a drawing waits only while changes are quick, and never longer than a tenth of a second", () => {
  const { it } = haste();
  it.changed(0);
  assert.equal(it.wait(10), 0);
  it.changed(50);
  assert.equal(it.wait(60), 80);
  assert.ok(it.wait(140) <= 0);
});
