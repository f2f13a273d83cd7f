// Claims about levels that share one model: whose layers are whose, what was run, and which stacks of exits stand.

import assert from "node:assert/strict";
import { test } from "node:test";
import { merged, passesText, ranText, rowsByLayer } from "../../../assets/js/shared/run/ran.js";
import { format, missing, parse, placed } from "../../../assets/js/shared/levels/stack.js";
import { shareText, stopText, trunksOf, trunksPlanned } from "../../../assets/js/shared/levels/trunk.js";
import { draft, header, modelOf, verify } from "./build.mjs";

const KNOWN = {
  ngram: { name: "ngram", label: "n-gram", usable: true, can_draft: true, can_verify: false },
  nano: {
    name: "nano",
    label: "draft model",
    usable: true,
    can_draft: true,
    can_verify: true,
    default_block: 4,
    params: { id: "tiny" },
  },
  exit: {
    name: "exit",
    label: "early exit",
    usable: true,
    can_draft: true,
    can_verify: true,
    default_block: 2,
    params: { at: 4 },
    depth: { min: 1, max: 29, default: 4, trained: [4, 8] },
  },
  int8: { name: "int8", label: "int8 copy", usable: true, can_draft: true, can_verify: true },
  target: { name: "target", label: "target", usable: true, can_draft: false, can_verify: true },
};
const reasons = (text) => parse(text).map((level, i, all) => missing(level, KNOWN[level.name], i < all.length - 1));
const shared = (...kinds) => {
  const h = header(...kinds);
  h.levels.forEach((level, i) =>
    Object.assign(level, {
      shares: kinds.length - 1,
      layers: level.kind === "exit" ? 4 * (i + 1) : 30,
      params: level.kind === "exit" ? { at: 4 * (i + 1) } : {},
    }),
  );
  return h;
};

test("depth and draft of a level go round through the grammar, in the engine's order", () => {
  for (const text of [
    "exit:2@at=4,exit:4@at=8,target",
    "exit:2@at=4@policy=flush@id=lens,target",
    "nano:4@id=smollm2-nano-fed,target",
    "exit:2@at=3@dtype=int8,int8:8,target",
  ]) {
    assert.equal(format(parse(text)), text);
  }
  assert.equal(format(parse("exit:2@id=lens@rule=block@at=4,target")), "exit:2@at=4@rule=block@id=lens,target");
});

test("a level that the preset lacks, and an exit deeper than its model, say so", () => {
  assert.deepEqual(reasons("ngram:2,exit:2@at=29,target"), ["", "", ""]);
  assert.match(reasons("int4:2,target")[0], /there is no level/);
  assert.match(reasons("target,target")[0], /cannot draft/);
  assert.match(reasons("exit:2@at=30,target")[0], /from 1 to 29/);
});

test("a new exit takes the next trained depth and stands where it is cheapest", () => {
  const stack = (levels) => format(levels);
  let levels = parse("ngram:2,int8:8,target");
  for (const want of [
    "ngram:2,exit:2@at=4,int8:8,target",
    "ngram:2,exit:2@at=4,exit:2@at=8,int8:8,target",
    "ngram:2,exit:2@at=4,exit:2@at=8,exit:2@at=9,int8:8,target",
  ]) {
    const { level, index } = placed(levels, KNOWN.exit);
    levels.splice(index, 0, level);
    assert.equal(stack(levels), want);
  }
  const { level, index } = placed(levels, KNOWN.nano);
  assert.deepEqual([level.options.id, index], ["tiny", 1]);
});

test("each level of a trunk runs from where the one below it stopped", () => {
  const [trunk] = trunksOf(shared("exit", "exit", "target"));
  assert.equal(trunk.layers, 30);
  assert.deepEqual(trunk.members.map(shareText), ["runs 0–3", "runs 4–7, reuses 0–3", "runs 8–29, reuses 0–7"]);
  assert.deepEqual(trunksPlanned(parse("exit:2@at=4,exit:4@at=8,target"), 30), [trunk]);
});

test("a draft model reads the embeddings; an n-gram level and another model's exit are not of the trunk", () => {
  const trunks = trunksPlanned(parse("ngram:2,nano:2,exit:2@at=5,exit:4@at=6@dtype=int8,int8:8,target"), 30);
  assert.deepEqual(
    trunks.map((t) => t.members.map((m) => m.index)),
    [
      [1, 2, 5],
      [3, 4],
    ],
  );
  assert.equal(shareText(trunks[0].members[0]), "reads the token embeddings");
});

test("a target alone shares nothing, in a plan and in a header", () => {
  assert.deepEqual(trunksPlanned(parse("ngram:2,target"), 30), []);
  assert.deepEqual(trunksOf(header("ngram", "target")), []);
});

test("where a level stopped: the exit's layer, or all of them; nothing for one that shares nothing", () => {
  const { levels } = shared("exit", "exit", "target");
  assert.deepEqual(
    levels.map((level) => stopText(level, levels)),
    ["exit at layer 4 of 30", "exit at layer 8 of 30", "all 30 layers"],
  );
  assert.equal(stopText(header("target").levels[0], header("target").levels), "");
});

const running = (event, ...ran) => ({ ...event, work: { ...event.work, ran } });

test("a token drafted where the policy del chose to read says that layer", () => {
  const m = modelOf([
    shared("exit", "exit", "target"),
    running(draft(0, "0:0", 0, 10, 0, 1), { lo: 0, hi: 6, rows: 1 }),
    draft(1, "1:0", 10, 20, 0, 1),
  ]);
  const where = (serial) => stopText(m.levels[1], m.levels, m.tokens.get(serial).depth);
  assert.deepEqual([where(0), where(1)], ["exit at layer 6 of 30", "exit at layer 8 of 30"]);
});

test("a verify's layers are told with their rows, and the row that a bonus cost", () => {
  const ran = [
    { lo: 0, hi: 8, rows: 1 },
    { lo: 8, hi: 30, rows: 4 },
  ];
  assert.equal(
    ranText({ kind: "verify", ran, rows: 4, catchUp: 0, tokensIn: 3 }),
    "layers 8–29 on 4 rows, 0–7 on 1 (bonus)",
  );
  assert.equal(
    ranText({ kind: "verify", ran, rows: 4, catchUp: 1, tokensIn: 3 }),
    "layers 8–29 on 4 rows, 0–7 on 1",
    "one row was catch-up: no bonus",
  );
  assert.equal(
    ranText({ kind: "verify", ran: ran.slice(1), rows: 4, catchUp: 0, tokensIn: 4 }),
    "layers 8–29 on 4 rows",
  );
  assert.equal(ranText({ kind: "verify", ran: [], rows: 4, catchUp: 0, tokensIn: 4 }), "");
});

test("passes of a draft over the same layers are one", () => {
  const ran = [
    { lo: 0, hi: 4, rows: 2 },
    { lo: 0, hi: 4, rows: 1 },
  ];
  assert.deepEqual(merged(ran), [{ lo: 0, hi: 4, rows: 3, passes: 2 }]);
  assert.equal(ranText({ kind: "draft", ran, rows: 3, catchUp: 1, tokensIn: 0 }), "layers 0–3 on 3 rows in 2 passes");
  assert.equal(
    ranText({ kind: "draft", ran: [{ lo: 0, hi: 1, rows: 1 }], rows: 1, catchUp: 0, tokensIn: 0 }),
    "layer 0 on 1 row",
  );
});

test("a segment of the model keeps what it ran, and layers add up per level", () => {
  const m = modelOf([
    shared("exit", "exit", "target"),
    running(draft(0, "0:0 1:1", 0, 10), { lo: 0, hi: 4, rows: 1 }, { lo: 0, hi: 4, rows: 1 }),
    running(verify(2, 0, "0:0+ 1:1+", 10, 30), { lo: 0, hi: 8, rows: 1 }, { lo: 8, hi: 30, rows: 3 }),
  ]);
  const rows = rowsByLayer(m.segments, 30);
  assert.deepEqual([rows.get(0)[3], rows.get(0)[4], rows.get(2)[7], rows.get(2)[8]], [2, 0, 1, 3]);
  assert.equal(passesText(m.segments), "8–29 in 1 pass, 0–7 in 1, 0–3 in 2");
});
