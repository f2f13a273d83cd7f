// Claims about the live charts: what they draw of a shipped run is what its trace says, recomputed here from the events alone.
// Run: node --test tests/js

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { entriesOf, plainOf } from "../../assets/js/tabs/explore/charts/series.js";
import { slotOf, through, WIDTH } from "../../assets/js/tabs/explore/charts/small-chart.js";
import { learn } from "../../assets/js/shared/levels/kinds.js";
import { TraceModel } from "../../assets/js/shared/run/trace.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const python = process.env.HSD_PYTHON ?? "python3";
const near = (a, b, what = "") => assert.ok(Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b)), `${what}: ${a}, ${b}`);

learn(JSON.parse(process.env.HSD_GRAMMAR ?? '{"kinds":{}}'));

/** The records of a shipped run, as the server sends them. @param {string} name */
function recordsOf(name) {
  const script =
    "import json, sys\nfrom hsd_core.export.run_page import page_records as records\nfrom hsd_core.trace import file\n" +
    "from hsd_core.typed import encode\nsys.stdout.buffer.write(encode(records(file.read(sys.argv[1]))))";
  const out = execFileSync(python, ["-c", script, `assets/traces/${name}.jsonl.gz`], {
    cwd: root,
    maxBuffer: 1 << 28,
  });
  return JSON.parse(out.toString());
}

for (const name of ["00-vowels", "09-four-levels", "12-hispec"])
  test(`${name}: every round has its time, its tokens and what was accepted in it`, () => {
    const records = recordsOf(name);
    const model = new TraceModel();
    model.append(records);
    const entries = entriesOf(model, Infinity, Infinity);
    const events = records.filter((r) => !["snapshot", "gauge"].includes(r.event));
    const commits = events.filter((e) => e.event === "commit");
    assert.deepEqual(
      entries.map((x) => [x.round, x.tokens]),
      commits.filter((e) => e.tokens.length).map((e) => [e.round, e.tokens.length]),
    );
    let written = 0;
    const kept = new Map();
    const seen = new Map();
    for (const entry of entries) {
      const own = events.filter((e) => e.round === entry.round && ["draft", "verify", "prefill"].includes(e.event));
      for (const [level, ns] of entry.byLevel.entries())
        near(
          ns,
          own.filter((e) => e.level === level).reduce((sum, e) => sum + e.t1 - e.t0, 0),
          `round ${entry.round}, level ${level}`,
        );
      written += entry.tokens;
      near(entry.mean, written / (entries.indexOf(entry) + 1), "tokens a pass");
      for (const { level, accepted, judged, mean } of entry.accepted) {
        const checks = own.filter((e) => e.event === "verify" && e.level === level).flatMap((e) => e.checks);
        const judgedHere = checks.filter((c) => ["accepted", "rejected"].includes(c.outcome)).length;
        assert.deepEqual(
          [accepted, judged],
          [checks.filter((c) => c.outcome === "accepted").length, judgedHere],
          `round ${entry.round}, level ${level}`,
        );
        kept.set(level, (kept.get(level) ?? 0) + accepted);
        seen.set(level, (seen.get(level) ?? 0) + judged);
        if (mean !== null) near(mean, kept.get(level) / seen.get(level), "acceptance so far");
      }
    }
    const last = entries.at(-1);
    near(last.speed, model.snapshots.at(-1).tokens_per_s);
    assert.ok(plainOf(model) > 0);
  });

test("what is drawn is what was over at the cursor, and the last rounds of a long run", () => {
  const model = new TraceModel();
  model.append(recordsOf("00-vowels"));
  const third = model.rounds[2];
  assert.equal(entriesOf(model, third.t1 - 1, 96).length, 2);
  assert.equal(entriesOf(model, third.t1, 96).length, 3);
  const whole = entriesOf(model, Infinity, 96);
  assert.deepEqual(entriesOf(model, Infinity, 4), whole.slice(-4));
  assert.deepEqual(entriesOf(model, -1, 96), []);
});

test("few rounds leave room, many fill the width", () => {
  assert.equal(slotOf(3), WIDTH / 24);
  assert.equal(slotOf(96), WIDTH / 96);
  assert.equal(through([[0, 1], null, [2, 3]]), "M0.0 1.0L2.0 3.0");
  assert.equal(through([]), "");
});

test("a round is drawn once it is over", () => {
  const round = (number, t0, t1) => ({ round: number, t0, t1, tokens: 2, byLevel: [] });
  const rounds = [round(0, 0, 10), round(1, 10, 20)];
  const model = /** @type {any} */ ({ rounds, levels: [], figures: { of: () => null }, snapshotAt: () => null });
  assert.deepEqual(
    [5, 10, 15, 20].map((cursor) => entriesOf(model, cursor, 9).length),
    [0, 1, 1, 2],
  );
});
