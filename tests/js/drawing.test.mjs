// Claims about when the first screen is drawn. Run: node --test tests/js

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { Drawing } from "../../assets/js/tabs/explore/drawing.js";

test("a step is drawn in the next frame, though a drawing of the live run still waits", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const frames = [];
  globalThis.requestAnimationFrame = (draw) => frames.push(draw);
  const player = { following: true };
  const scene = { player, root: { classList: { add() {}, remove() {} } }, feed: { model: null } };
  const drawing = new Drawing(/** @type {any} */ (scene));
  let drawn = 0;
  drawing.now = () => drawn++;
  drawing.haste.wait = () => 60;
  drawing.ask();
  drawing.ask();
  assert.equal(frames.length, 0, "quick rounds wait");
  player.following = false; // Home is pressed
  drawing.ask();
  drawing.ask();
  assert.equal(frames.length, 1);
  frames.pop()(0);
  mock.timers.tick(100);
  assert.deepEqual([drawn, frames.length], [1, 0], "what waited was drawn with it");
  player.following = true;
  drawing.haste.wait = () => 0;
  drawing.ask();
  assert.equal(frames.length, 1, "and the next ones follow");
});
