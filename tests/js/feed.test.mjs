// Claims about payloads: they may come twice, overlap, or leave gaps. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { Feed } from "../../assets/js/shared/run/trace.js";
import { commit, drawn, header, piece, verify } from "../app/js/build.mjs";

const EVENTS = [
  header("target"),
  piece(0, "a"),
  piece(1, "b"),
  verify(0, 0, [], 0, 5),
  drawn("bonus", 0, 0, 0, 0, 5),
  commit(0, "0:0 0 bonus", 5),
  { event: "snapshot", round: 0, t: 5, committed: 1, tokens_per_s: 1 },
  verify(0, 1, [], 5, 9, 1),
  drawn("bonus", 0, 1, 1, 1, 9, 1),
  commit(1, "1:1 0 bonus", 9, 1),
  { event: "gauge", level: 0, t: 9, acceptance: null, judged: 0, accepted: 0, forwards: 1 },
];
const payload = (from, to, { run = "r", final = false } = {}) => ({
  run,
  from,
  ev: EVENTS.slice(from, to),
  final,
  status: { mode: "live" },
});

function fed(...payloads) {
  const feed = new Feed();
  return [feed, payloads.map((one) => feed.take(one))];
}

test("a run begins, grows and says nothing new", () => {
  const [feed, said] = fed(payload(0, 3), payload(3, 6), payload(3, 6));
  assert.deepEqual(said, ["new", "grown", "same"]);
  assert.equal(feed.model.text(), "a");
});

test("payloads that overlap are applied once", () => {
  const [feed, said] = fed(payload(0, 6), payload(2, 11), payload(0, 11, { final: true }));
  assert.deepEqual(said, ["new", "grown", "same"]);
  assert.deepEqual(feed.records, EVENTS);
  assert.equal(feed.model.text(), "ab");
  assert.equal(feed.final, true);
});

test("a gap is told and changes nothing, in a run that is known and in one that is not", () => {
  const [feed, said] = fed(payload(0, 3), payload(5, 10), payload(4, 6, { run: "other" }));
  assert.deepEqual(said, ["new", "gap", "gap"]);
  assert.deepEqual([feed.run, feed.records.length], ["r", 3]);
  assert.equal(feed.take(payload(3, 10)), "grown");
});

test("another run replaces the one before, with a model of its own", () => {
  const [feed, said] = fed(payload(0, 10, { final: true }), payload(0, 6, { run: "other" }));
  assert.deepEqual(said, ["new", "new"]);
  assert.deepEqual([feed.run, feed.final, feed.model.text()], ["other", false, "a"]);
});

test("a saved trace has a line for each event and none for the page's own figures", () => {
  const lines = fed(payload(0, 11))[0]
    .lines()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    lines,
    EVENTS.filter((event) => !["snapshot", "gauge"].includes(event.event)),
  );
});
