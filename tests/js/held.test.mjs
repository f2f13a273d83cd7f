// Claims about what each level sees of the keys and values, and about the size of a long prompt. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { cellsOf, heldBy } from "../../assets/js/shared/anatomy/cache-strips.js";
import "../../assets/js/systems/longspec/longspec.js";
import "../../assets/js/systems/views/views.js";
import { LONG, sizeText } from "../../assets/js/tabs/explore/controls/controls.js";
import { PROMPT } from "../../assets/text/en/run.js";
import { HELD } from "../../assets/text/en/anatomy.js";
import { header, modelOf } from "../app/js/build.mjs";

const kv = (t, ...cached) => ({
  event: "kv",
  t,
  levels: cached.map((n, level) => ({ level, cached: n, catch_up: 1, committed: n + 1, held: 0 })),
});

/** A view that holds 16 first positions, half of its heads 400 more, and the last 64 of a prompt of 2,000. */
const CHOSEN = {
  upto: 2000,
  slots: 512,
  heads: 90,
  held: [
    { lo: 0, hi: 16, heads: 90 },
    { lo: 400, hi: 800, heads: 45 },
    { lo: 1936, hi: 2000, heads: 90 },
  ],
};
const VIEW = { event: "report", level: 0, t0: 5, t1: 5, notes: { chosen: CHOSEN } };
const model = (...events) => modelOf([header("int8", "target"), ...events]);

test("where every level sees all, nothing is told", () => {
  assert.deepEqual(heldBy(model(kv(10, 2000, 2000)), 10), []);
});

test("a view sees its sink, what its heads chose, the last positions and what came since", () => {
  const [view, target] = heldBy(model(VIEW, kv(10, 2010, 2010)), 10);
  assert.deepEqual(
    view.parts.map((part) => [part.kind, part.count]),
    [
      ["sink", 16],
      ["chosen", 200],
      ["recent", 64],
      ["since", 10],
    ],
  );
  assert.deepEqual([view.sees, view.total], [290, 2010]);
  assert.deepEqual([target.sees, target.total, target.parts[0].kind], [2010, 2010, "whole"]);
  assert.ok(target.cells.every((cell) => cell.kind === "whole" && cell.share > 0.99));
  const said = HELD.sees("view", view);
  assert.match(said, /^view sees 290 of 2,010 positions: 16 first, 200 chosen, 64 recent, 10 since the prompt/);
  assert.match(said, /Each of 90 heads chose its own/);
  assert.equal(HELD.sees("target", target), "target sees all 2,010 positions.");
});

test("a view is told from the moment on at which it was chosen", () => {
  assert.deepEqual(heldBy(model({ ...VIEW, t0: 8, t1: 8 }, kv(4, 1999, 1999)), 4), []);
});

test("a draft with a window sees its first positions and its last ones, and the target's last layer", () => {
  const head = header("nano", "target");
  head.levels[0].params = { window: 512 };
  const [nano] = heldBy(modelOf([head, kv(10, 4000, 4000)]), 10);
  assert.deepEqual(
    nano.parts.map((part) => [part.kind, part.count]),
    [
      ["sink", 4],
      ["recent", 508],
    ],
  );
  assert.match(
    HELD.sees("nano", nano),
    /512 of 4,000 positions: 4 first, 508 recent, and the target\u2019s last layer/,
  );
});

test("cells add up to what is seen", () => {
  const stretches = [
    { lo: 0, hi: 16, share: 1, kind: "sink" },
    { lo: 37, hi: 61, share: 0.5, kind: "chosen" },
  ];
  for (const total of [1, 7, 96, 97, 8000]) {
    const cells = cellsOf(total, stretches);
    assert.ok(cells.length <= Math.min(96, total));
    const seen = cells.reduce((sum, cell) => sum + cell.share * (total / cells.length), 0);
    const there = stretches.reduce((sum, x) => sum + Math.max(0, Math.min(x.hi, total) - x.lo) * x.share, 0);
    assert.ok(Math.abs(seen - there) < 1e-6, `${total}: ${seen} of ${there}`);
  }
});

test("a long prompt says how long it is, a short one nothing", () => {
  assert.equal(sizeText("x".repeat(LONG)), "");
  assert.equal(
    sizeText("x".repeat(32000), 8192),
    "32,000 characters, about 8,000 tokens; at most 8,192 tokens are read here",
  );
  assert.equal(sizeText("x".repeat(32000)), "32,000 characters, about 8,000 tokens");
  assert.equal(PROMPT.over("\u{1f305}".repeat(8000), 8000), "", "characters are counted as the server counts them");
  assert.match(
    PROMPT.over("x".repeat(8001), 8000),
    /^The prompt has 8,001 characters, and at most 8,000 are read here: /,
  );
});
