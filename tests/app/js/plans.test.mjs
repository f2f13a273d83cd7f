// Claims about runs whose plan changes between rounds. Run: node --test tests/app/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { plain, captionAt } from "../../../assets/js/shared/caption/caption.js";
import { inPlan, originText, planText } from "../../../assets/js/tabs/explore/tower/floor/floor-notes.js";
import { momentAt, momentOf } from "../../../assets/js/shared/share/links.js";
import { TraceModel } from "../../../assets/js/shared/run/trace.js";
import { commit, draft, drawn, header, verify } from "./build.mjs";

const plan = (round, t, levels, blocks, why = "") => ({
  event: "plan",
  round,
  t,
  t0: t,
  stack: levels.join(),
  levels,
  blocks,
  why,
  acceptance: {},
  predicted_ms: null,
});
const prefill = (level, tokens, t0, t1, round) => ({ event: "prefill", level, tokens, t0, t1, round });

/** Round 0: n-gram, then the target; before round 1 int8 joins, and the n-gram leaves. */
function replanned() {
  const m = new TraceModel();
  m.append([
    header("ngram", "int8", "target"),
    plan(0, 1, [0, 2], [3], "the best plan"),
    prefill(2, 4, 1, 10, null),
    draft(0, [[0, 0]], 10, 11),
    { ...verify(2, 0, [[0, 0, "+"]], 11, 50), below: 0 },
    drawn("bonus", 2, 1, 1, 1, 51),
    commit(
      0,
      [
        [0, 0, 0, "draft", [2]],
        [1, 1, 2, "bonus"],
      ],
      52,
    ),
    plan(1, 55, [1, 2], [4], "int8 joins"),
    prefill(1, 6, 55, 70, 1),
    draft(2, [[2, 2]], 70, 90, 1, 1),
    { ...verify(2, 2, [[2, 2, "x"]], 90, 130, 1), below: 1 },
    drawn("correct", 2, 2, 3, 3, 131, 1),
    commit(2, [[3, 3, 2, "correct"]], 132, 1),
  ]);
  return m;
}

test("the plan at a cursor is that of the round it stands in", () => {
  const m = replanned();
  for (const [t, levels] of [
    [0, [0, 2]],
    [40, [0, 2]],
    [54, [0, 2]],
    [60, [1, 2]],
    [132, [1, 2]],
  ])
    assert.deepEqual(m.planAt(t).levels, levels);
  assert.deepEqual(
    [m.levelsIn(0), m.levelsIn(1)],
    [
      [0, 2],
      [1, 2],
    ],
  );
});

test("a run without plans runs all its levels", () => {
  const m = new TraceModel();
  m.append([header("ngram", "int8", "target")]);
  assert.equal(m.planAt(0), null);
  assert.deepEqual(m.levelsIn(3), [0, 1, 2]);
});

test("a level's place in the plan is said in words", () => {
  const first = replanned().planAt(0);
  assert.deepEqual(inPlan(first, 0), ["T = 3 in the plan", false]);
  assert.deepEqual(inPlan(first, 1), ["not in the plan", true]);
  assert.deepEqual(inPlan(first, 2), ["in the plan, approves every token", false]);
  assert.deepEqual(inPlan(null, 1), [null, false]);
  assert.equal(planText(first), "Auto, from round 1: 0,2 (the best plan).");
});

test("a plan's round has one number in the tower, the caption and the address, before it has begun too", () => {
  const told = (/** @type {TraceModel} */ m, /** @type {number} */ t) => [
    planText(m.plans.findLast((x) => x.t <= t)).match(/from round (\d+)/)[1],
    plain(m, captionAt(m, t).parts).match(/^Round (\d+):/)[1],
    momentOf(m, t).split(".")[0],
  ];
  const m = replanned();
  assert.deepEqual(told(m, 1), ["1", "1", "1"]);
  assert.deepEqual(told(m, 55), ["2", "2", "2"]);
  assert.deepEqual(momentAt(m, momentOf(m, 55)), { ns: 55, exact: true });
  assert.deepEqual(momentAt(m, "9.1"), { ns: m.marks.at(-1).t, exact: false });
  const live = replanned();
  live.append([plan(2, 1000, [0, 2], [3])]);
  assert.deepEqual(told(live, 1000), ["3", "3", "3"]);
});

test("a level whose context is full is told without Auto, and not before it rests", () => {
  const m = new TraceModel();
  m.append([header("ngram", "int8", "target"), prefill(2, 4, 1, 10, null)]);
  m.append([plan(1, 55, [0, 2], [3], "the context of small, 24 tokens, is full")]);
  assert.equal(m.planAt(20), null);
  assert.deepEqual(m.planAt(60).levels, [0, 2]);
  assert.match(
    plain(m, captionAt(m, 55).parts),
    /From here on lookups, T 3 and the model: the context of small, 24 tokens, is full\.$/,
  );
  assert.equal(planText(m.planAt(60), false), "From round 2: 0,2 (the context of small, 24 tokens, is full).");
});

test("a prefill in the middle belongs to the round that the level joins", () => {
  const m = replanned();
  assert.deepEqual(
    m.segments.filter((s) => s.kind === "prefill").map((s) => [s.level, s.round, s.rows]),
    [
      [2, null, 4],
      [1, 1, 6],
    ],
  );
  assert.equal(m.rounds[1].t0, 55);
  assert.equal(m.rounds[1].byLevel[1], 15 + 20);
});

test("a judgement knows whose token it judged", () => {
  const m = replanned();
  assert.equal(m.tokens.get(0).judgements[0].below, 0);
  assert.equal(m.tokens.get(2).judgements[0].below, 1);
});

test("stepping stops at a change of plan", () => {
  assert.deepEqual(
    replanned()
      .marks.filter((x) => x.kind === "plan")
      .map((x) => [x.t, x.round]),
    [
      [1, 0],
      [55, 1],
    ],
  );
});

test("where the profile of a run was measured is said, with the cure where that was elsewhere", () => {
  const told = (about, machine = "Abacus") => originText({ profile: about && { about }, machine, preset: "toy" });
  assert.equal(
    told({ source: "measured", machine: "Abacus", recorded: "2020-02-02" }),
    "Profile measured on the machine of this run on 2020-02-02.",
  );
  const shipped = told({ source: "shipped", machine: "Loom, 2 cores", recorded: "2020-02-02" });
  assert.match(
    shipped,
    /shipped with the program, measured on Loom, 2 cores, 2020-02-02: not on the machine of this run, Abacus/,
  );
  assert.match(shipped, /calibrate --preset toy measures it\.$/);
  assert.match(told({ source: "shipped", machine: "Abacus" }), /another machine of the same description/);
  for (const none of [null, {}, { source: ["x"] }, { source: "elsewhere" }]) assert.match(told(none), /not recorded/);
});
