// Claims about the opening: when it opens, what its moments say of the recorded round, how it goes on. node --test tests/js

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { roundOf, stateOf } from "../../assets/js/shared/anatomy/round.js";
import { plainSpeed, speedUp } from "../../assets/js/shared/run/figures.js";
import { opensStory } from "../../assets/js/tabs/explore/story/asked.js";
import { meaning } from "../../assets/js/tabs/explore/story/story.js";
import { momentsOf, plainWords, verdictOf, wordOf } from "../../assets/js/tabs/explore/story/scenes.js";
import { TellingClock } from "../../assets/js/tabs/explore/story/telling-clock.js";
import { duration, restOf, rounded } from "../../assets/text/numbers.js";
import { commit, draft, drawn, header, modelOf, piece, verify } from "../app/js/build.mjs";

const root = new URL("../../", import.meta.url);
const folder = new URL("assets/opening/", root);
const opening = JSON.parse(readFileSync(new URL("opening.json", folder), "utf8"));
const lines = gunzipSync(readFileSync(new URL(opening.recording, folder)))
  .toString()
  .trim()
  .split("\n");
const events = () => lines.map((line) => JSON.parse(line));
const model = modelOf(events());
const place = opening.round - 1;
const round = roundOf(model, place);
const moments = momentsOf(model, place);
const at = (/** @type {string} */ what, scene = 1) => moments.filter((x) => x.what === what && x.scene === scene);

test("the round that ships has three words drafted, two kept, one corrected, and all accepted by the target", () => {
  const [drafted, checked, judged] = round.calls;
  assert.equal(round.calls.length, 3);
  assert.deepEqual(
    round.calls.map(({ segment }) => [segment.kind, segment.level]),
    [
      ["draft", 0],
      ["verify", 1],
      ["verify", 2],
    ],
  );
  assert.equal(drafted.tiles.length, 3);
  const middle = verdictOf(checked);
  assert.deepEqual([middle.given, middle.kept, middle.own?.record.how], [3, 2, "correct"]);
  assert.equal(middle.struck?.record.at, middle.own?.record.at, "its replacement takes its place");
  const top = verdictOf(judged);
  assert.deepEqual([top.given, top.kept, top.struck, top.own?.record.how], [3, 3, null, "bonus"]);
  assert.deepEqual(
    round.tokens.map((x) => x.id),
    [...drafted.tiles.slice(0, 2), middle.own, top.own].map((x) => x?.record.id),
  );
});

test("what the sentences call words are words", () => {
  const ids = round.calls.flatMap((call) => call.tiles.map((x) => x.record.id));
  for (const id of ids) assert.match(model.pieceText(id), /^\u00b7\p{L}+$/u);
});

test("the sentences say what the trace has, with its times", () => {
  const told = (/** @type {string} */ what) => at(what).map((x) => x.says);
  const ms = (/** @type {any} */ call) => duration(call.segment.t1 - call.segment.t0);
  const [drafted, checked, judged] = round.calls;
  assert.equal(told("drafts")[0], `The cheapest level, a small draft, guesses three words in ${ms(drafted)}.`);
  assert.ok(told("rises")[0].includes(ms(checked)) && told("rises")[0].includes("reads all three in one pass"));
  assert.ok(told("rises")[1].includes(ms(judged)) && told("rises")[1].includes("the model"));
  const { struck, own } = verdictOf(checked);
  assert.ok(told("judges")[0].includes("keeps the two") && told("judges")[0].includes(wordOf(model, struck.record.id)));
  assert.ok(told("corrects")[0].includes(wordOf(model, own.record.id)));
  assert.ok(told("judges")[1].includes("all three") && told("judges")[1].includes("four words for one pass"));
});

test("at its moment each thing has just happened, and not before", () => {
  const [drafted, checked] = round.calls;
  const states = (/** @type {any} */ call, /** @type {any} */ moment) =>
    call.tiles.map((/** @type {any} */ tile) => stateOf(model, tile, call, moment.at));
  assert.deepEqual(states(drafted, at("begins")[0]), ["future", "future", "future"]);
  assert.deepEqual(states(drafted, at("drafts")[0]), ["waiting", "waiting", "waiting"]);
  const checks = { ...checked, tiles: checked.tiles.filter((x) => x.what === "check") };
  const own = { ...checked, tiles: checked.tiles.filter((x) => x.what === "own") };
  assert.deepEqual(states(checks, at("rises")[0]), ["asked", "asked", "asked"]);
  assert.deepEqual(states(checks, at("judges")[0]), ["accepted", "accepted", "rejected"]);
  assert.deepEqual(states(own, at("judges")[0]), ["future"]);
  assert.deepEqual(states(own, at("corrects")[0]), ["waiting"]);
  assert.ok(round.tokens.every((x) => x.tCommit !== null && x.tCommit <= at("commits")[0].at));
});

test("plain decoding writes the same words, one a pass, in the time that it was measured to take", () => {
  const plain = plainWords(model, round);
  assert.deepEqual(
    plain.map((x) => x.id),
    round.tokens.map((x) => x.id),
  );
  assert.equal(at("one", 2).length, plain.length);
  const { token_ns: times } = model.baseline;
  const sum = plain.reduce((all, x) => all + x.ns, 0);
  assert.equal(sum, times[plain.at(-1).at] - times[plain[0].at - 1]);
  assert.ok(sum > round.t1 - round.t0, "else the opening would have nothing to say");
  assert.equal(model.baseline.equal, model.committed.length);
});

test("the speed-up that it ends with is the server's", () => {
  const script = [
    "import json, sys",
    "from hsd_core.export.run_page import page_records",
    "from hsd_core.trace import file, metrics",
    "events = file.read(sys.argv[1])",
    "snaps = [r for r in page_records(events) if r['event'] == 'snapshot']",
    "print(json.dumps([metrics.speed_up(events), snaps]))",
  ].join("\n");
  const path = `assets/opening/${opening.recording}`;
  const python = process.env.HSD_PYTHON ?? "python3";
  const [gain, snaps] = JSON.parse(execFileSync(python, ["-c", script, path], { cwd: root }).toString());
  const whole = modelOf([...events(), ...snaps]);
  const last = momentsOf(whole, place).at(-1);
  assert.ok(Math.abs(speedUp(whole, last.at) - gain) < 0.01);
  assert.ok(plainSpeed(whole.baseline) > 0 && gain > 1);
  assert.ok(last.says.startsWith(gain.toFixed(2)) && last.says.includes("the same text"));
});

test("by itself it takes about half a minute", () => {
  const lasts = moments.slice(0, -1).reduce((sum, x) => sum + x.lasts, 0) / 1000;
  assert.ok(lasts > 25 && lasts < 38, `${lasts} s`);
  const runs = at("runs", 3)[0];
  assert.ok(Math.abs(runs.lasts - model.baseline.token_ns.at(-1) / 1e6) < 1, "the run: as long as it took");
});

test("a round of another shape is told as what it was", () => {
  const other = modelOf([
    header("ngram", "int8", "target"),
    ...["a", "b", "c"].map((x, i) => piece(i, x)),
    draft(0, "0:0 1:1", 0, 30),
    verify(1, 0, "0:0x 1:1.", 30, 60),
    drawn("correct", 1, 0, 2, 2, 61),
    verify(2, 0, "2:2+", 70, 100),
    drawn("bonus", 2, 1, 3, 1, 101),
    commit(0, "2:2 1 correct, 3:1 2 bonus", 102),
  ]);
  const says = momentsOf(other, 0).map((x) => x.says);
  assert.ok(says.some((x) => x.includes("guesses two words")));
  assert.ok(says.some((x) => x.includes("strikes out \u201ca\u201d") && !x.includes("keeps")));
  assert.ok(!says.some((x) => x.includes("same text") || x.includes("just what the model")), "nothing was compared");
});

test("it opens where nothing else is asked for, once; a link to it always opens it", () => {
  const opens = (/** @type {string} */ address, seen = false) => {
    const { search, hash } = new URL(address, "http://x/");
    return opensStory({ search, hash }, seen);
  };
  assert.deepEqual([opens("/"), opens("/?__theme=dark"), opens("/", true)], [true, true, false]);
  assert.deepEqual([opens("/?story=1", true), opens("/?story=1&scene=2&recording=01-code", true)], [true, true]);
  for (const link of [
    "?explore=1",
    "?recording=01-code",
    "?tab=play",
    "?prompt=x",
    "?lesson=2",
    "#run=1.AA",
    "?story=0",
  ])
    assert.equal(opens(`/${link}`), false, link);
  assert.equal(opens("/?story=1&embed=1"), false);
});

test("keys: on, back, leave; what goes with a modifier is the browser's", () => {
  const key = (/** @type {string} */ name, more = {}) =>
    meaning({ key: name, shiftKey: false, altKey: false, ctrlKey: false, metaKey: false, ...more });
  assert.deepEqual(
    [" ", "ArrowRight", "PageDown"].map((x) => key(x)),
    ["on", "on", "on"],
  );
  assert.deepEqual([key("ArrowLeft"), key("Escape"), key("Tab"), key("p")], ["back", "leave", "touch", ""]);
  assert.deepEqual([key("ArrowRight", { shiftKey: true }), key("r", { ctrlKey: true })], ["step", null]);
});

/** A clock whose waits end when `pass` is called. */
function clocked(still = false) {
  /** @type {(() => void)|null} */ let waiting = null;
  const shown = /** @type {number[]} */ ([]);
  const timer = {
    wait: (/** @type {() => void} */ f) => ((waiting = f), 1),
    drop: () => (waiting = null),
  };
  const list = [1, 1, 1, 2, 2, 3].map((scene, i) => /** @type {any} */ ({ scene, what: "x", lasts: 1, i }));
  const page = { show: (/** @type {any} */ x) => shown.push(x.i), changed: () => {} };
  const clock = new TellingClock(list, page, { still, timer });
  const pass = (times = 1) => {
    for (; times; times--) {
      const f = waiting;
      waiting = null;
      f?.();
    }
  };
  return { clock, shown, pass };
}

test("it plays once by itself; a touch pauses it, then presses lead from scene to scene", () => {
  const { clock, shown, pass } = clocked();
  clock.begin(1);
  pass(20);
  assert.deepEqual(shown, [0, 1, 2, 3, 4, 5]);
  assert.ok(clock.over && !clock.playing);
  clock.begin(1);
  pass();
  clock.press();
  assert.ok(!clock.playing && clock.at === 1, "paused where it was");
  clock.press();
  pass(20);
  assert.deepEqual([clock.at, clock.playing], [2, false], "it waits at the scene's end");
  clock.press();
  assert.ok(clock.playing && clock.moment.scene === 2);
  clock.press();
  assert.deepEqual([clock.at, clock.playing], [4, false], "a press completes what a press began");
  clock.press();
  assert.ok(clock.over);
});

test("back leads to the scene's beginning, then to the end of the one before", () => {
  const { clock } = clocked();
  clock.end(2);
  clock.back();
  assert.equal(clock.at, 3);
  clock.back();
  assert.equal(clock.at, 2);
  clock.back();
  clock.back();
  assert.equal(clock.at, 0);
});

test("with reduced motion nothing goes on by itself, and each press shows a moment", () => {
  const { clock, pass } = clocked(true);
  clock.begin(1);
  pass(5);
  assert.deepEqual([clock.at, clock.playing], [0, false]);
  for (let i = 1; i < 6; i++) {
    clock.press();
    assert.equal(clock.at, i);
  }
});

test("the parts of a round's time, as they are written, add up to the whole, as it is written", () => {
  const parts = round.calls.map(({ segment }) => (segment.t1 - segment.t0) / 1e6);
  const whole = (round.t1 - round.t0) / 1e6;
  const written = [...parts, restOf(parts, whole)].reduce((sum, x) => sum + Number(rounded(x)), 0);
  assert.ok(Math.abs(written - Number(rounded(whole))) < 5e-3, `${parts} of ${whole}`);
  assert.equal(restOf([3.08, 11.8, 26.6], 42).toFixed(2), "0.52");
});

test("a word of plain decoding takes the time of its own pass", () => {
  const plain = plainWords(
    /** @type {any} */ ({ baseline: { ids: [7, 8, 9], token_ns: [10, 25, 45] } }),
    /** @type {any} */ ({ tokens: [{ at: 0 }, { at: 2 }, { at: 3 }] }),
  );
  assert.deepEqual(plain, [
    { id: 7, at: 0, ns: 10 },
    { id: 9, at: 2, ns: 20 },
  ]);
});

test("back leads to a scene's beginning, and from there into the scene before it", () => {
  const list = [1, 1, 2, 2].map((scene) => /** @type {any} */ ({ scene }));
  const page = { show: () => {}, changed: () => {} };
  const clock = new TellingClock(list, page, { still: false, timer: { wait: () => 1, drop: () => {} } });
  clock.at = 3;
  const seen = [1, 2, 3, 4].map(() => {
    clock.back();
    return clock.at;
  });
  assert.deepEqual(seen, [2, 1, 0, 0]);
});
