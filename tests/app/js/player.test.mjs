// Claims about playback, with a clock that the test moves.

import assert from "node:assert/strict";
import { test } from "node:test";
import { paceOf, Player, SPEEDS } from "../../../assets/js/shared/player/player.js";

function setup({ reduced = false } = {}) {
  let time = 0;
  let next = null;
  const clock = { now: () => time, frame: (f) => ((next = f), 1), cancel: () => (next = null) };
  const seen = [];
  const player = new Player((cursor) => seen.push(cursor), { reduced, clock });
  const model = {
    end: 100e6,
    commitTimes: [40e6, 100e6],
    marks: [
      { t: 10e6, kind: "draft" },
      { t: 20e6, kind: "reject" },
      { t: 40e6, kind: "commit" },
      { t: 70e6, kind: "verify" },
      { t: 100e6, kind: "commit" },
    ],
  };
  const pass = (ms) => {
    time += ms;
    const f = next;
    next = null;
    f?.();
  };
  return { player, model, pass, seen, waiting: () => next !== null };
}

test("speed 1 is as fast as it was, speed 0.5 half as fast", () => {
  const { player, model, pass } = setup();
  player.attach(model);
  player.speed = 1;
  player.play();
  pass(30);
  assert.equal(player.cursor, 30e6);
  player.speed = 0.5;
  pass(20);
  assert.equal(player.cursor, 40e6);
});

test("playing stops at the end and asks for no more frames; play then starts again", () => {
  const { player, model, pass, waiting } = setup();
  player.attach(model);
  player.speed = 1;
  player.play();
  pass(500);
  assert.equal(player.cursor, model.end);
  assert.equal(player.playing, false);
  assert.equal(waiting(), false);
  player.play();
  assert.equal(player.cursor, 0);
});

test("a step on stops at a rejection first, then at the round's end; a step back goes a round", () => {
  const { player, model } = setup();
  player.attach(model);
  const stops = [1, 1, 1, -1, -1].map((d) => (player.step(d), player.cursor / 1e6));
  assert.deepEqual(stops, [20, 40, 100, 40, 0]);
});

test("events are stepped one by one, both ways", () => {
  const { player, model } = setup();
  player.attach(model);
  const stops = [1, 1, 1, 1, -1, -1].map((d) => (player.stepEvent(d), player.cursor / 1e6));
  assert.deepEqual(stops, [10, 20, 40, 70, 40, 20]);
});

test("a live run is followed until somebody seeks", () => {
  const { player, model } = setup();
  player.live(model);
  model.end = 120e6;
  player.grow();
  assert.equal(player.cursor, 120e6);
  player.seek(50e6);
  model.end = 140e6;
  player.grow();
  assert.equal(player.cursor, 50e6);
  player.follow();
  assert.equal(player.cursor, 140e6);
});

test("with reduced motion the cursor moves a round at a time", () => {
  const { player, model, pass } = setup({ reduced: true });
  player.attach(model);
  player.speed = 1;
  player.play();
  pass(30);
  assert.equal(player.cursor, 0);
  pass(30);
  assert.equal(player.cursor, 40e6);
});

test("a recording begins at its first round, after the prefill", () => {
  const { player, model } = setup();
  player.attach({ ...model, rounds: [{ t0: 25e6 }] });
  assert.equal(player.cursor, 25e6);
});

test("a seek stays within the run", () => {
  const { player, model } = setup();
  player.attach(model);
  player.seek(-5);
  assert.equal(player.cursor, 0);
  player.seek(1e12);
  assert.equal(player.cursor, model.end);
});

test("a replay lasts 5 to 15 s, at the engine's own speed where that does", () => {
  for (let seconds = 0.06; seconds < 700; seconds *= 1.07) {
    const speed = paceOf(seconds * 1e9);
    assert.ok(SPEEDS.includes(speed));
    assert.ok(seconds / speed >= 5 && seconds / speed <= 15, `${seconds} s at ${speed}`);
    assert.equal(speed === 1, seconds >= 5 && seconds <= 15);
  }
  assert.deepEqual([paceOf(0), paceOf(1), paceOf(1e15)], [1, SPEEDS[0], SPEEDS.at(-1)]);
});

test("the speed is chosen again for each run, and not where a person has chosen one", () => {
  const { player, model } = setup();
  player.attach(model); // 0.1 s
  assert.equal(player.speed, 0.02);
  player.speed = 0.5;
  player.seek(player.end);
  player.play();
  assert.equal(player.speed, 0.5);
  player.attach(model);
  assert.equal(player.speed, 0.02);
  player.live(model);
  assert.equal(player.speed, 1, "a live run is followed as it comes");
  player.play();
  assert.equal(player.speed, 0.02, "and then replayed");
});

test("where it may, a replay rests at a rejection as long as it takes to read, then runs on from there", () => {
  const { player, model, pass, waiting } = setup();
  player.attach(model);
  player.speed = 1;
  player.reading = (t) => (t === 20e6 ? 3000 : 0);
  player.play();
  pass(35);
  assert.deepEqual([player.cursor, player.playing, player.resting], [20e6, true, true]);
  pass(2990);
  assert.equal(player.cursor, 20e6);
  pass(20);
  assert.deepEqual([player.cursor, player.resting], [20e6, false]);
  pass(10);
  assert.equal(player.cursor, 30e6);
  pass(200);
  assert.deepEqual([player.cursor, player.playing, waiting()], [100e6, false, false]);
});

test("a rest ends with a step, a seek, a pause, or when it is no longer wanted", () => {
  for (const act of [(p) => p.step(1), (p) => p.seek(90e6), (p) => p.pause(), (p) => (p.reading = null)]) {
    const { player, model, pass } = setup();
    player.attach(model);
    player.reading = () => 3000;
    player.speed = 1;
    player.play();
    pass(25);
    assert.equal(player.resting, true);
    act(player);
    pass(1);
    assert.equal(player.resting, false);
  }
});
