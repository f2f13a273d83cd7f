// Claims about the live charts: what they draw of a shipped run is what its trace says, recomputed here from the events alone.
// Run: node --test tests/js

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { WIDTH, entriesOf, plainOf, slotOf, through } from "../../assets/js/tabs/explore/charts/small-chart.js";
import { runPlots } from "../../assets/js/tabs/explore/charts/run-plots.js";
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

/** A page without colours, for what plotly is told. */
function bare() {
  const style = { getPropertyValue: () => "", color: "#000" };
  const element = () => ({ style: {}, remove: () => {}, getContext: () => null });
  Object.assign(globalThis, { innerWidth: 1440, getComputedStyle: () => style });
  globalThis.document = /** @type {any} */ ({ createElement: element, body: { appendChild: (x) => x } });
}

for (const name of ["09-four-levels", "18-auto"])
  test(`${name}: what is studied adds up, at any moment of the run`, () => {
    bare();
    const records = recordsOf(name);
    for (const part of [1, 0.5, 0.1]) {
      const model = new TraceModel();
      model.append(records.slice(0, Math.ceil(part * records.length)));
      const { acceptance, time, tokens } = runPlots(model);
      const [kept, lost] = time.figure.data.map(({ x }) => x);
      const spent = [...kept, ...lost].reduce((sum, ms) => sum + ms, 0);
      const prefills = model.segments.filter((x) => x.kind === "prefill" && x.round !== null);
      const joined = prefills.reduce((sum, x) => sum + (x.t1 - x.t0) / 1e6, 0);
      if (part === 1) near(spent + joined, model.footer.decode_ns / 1e6, "all of the time");
      assert.ok(
        [...kept, ...lost].every((ms) => ms >= 0),
        "no time is negative",
      );
      assert.equal(tokens.figure.data[0].y.at(-1), model.committed.length);
      for (const { x, y, customdata } of acceptance.figure.data) {
        assert.deepEqual(
          x,
          x.map((_, i) => i + 1),
        );
        y.forEach((share, i) => near(share, customdata[i][0] / customdata[i][1]));
      }
      const judged = acceptance.table.rows.reduce((sum, [, , count]) => sum + count, 0);
      const gauges = model.levels.map(({ index }) => (index ? model.figures.of(Infinity, index)?.judged : 0) ?? 0);
      assert.equal(
        judged,
        gauges.reduce((sum, count) => sum + count, 0),
        "the same tokens as in the live charts",
      );
      for (const { figure, read } of [acceptance, time, tokens])
        figure.data.forEach(({ x }, curve) =>
          x.forEach((_, i) => assert.match(read(curve, i), /^[^\n]+: ?\S.*\d/, "a value is read")),
        );
      if (name === "18-auto" && part === 1) {
        const named = [...tokens.text.matchAll(/from round (\d+) on/g)].map(([, round]) => Number(round));
        assert.deepEqual(
          named,
          model.plans.slice(0, 12).map((plan) => plan.round + 1),
        );
        for (const { text } of [acceptance, time, tokens])
          assert.match(
            text,
            new RegExp(`^Auto: the levels and their T changed ${model.plans.length - 1} times? during`),
          );
        assert.equal(tokens.figure.layout.shapes.length, Math.min(12, model.plans.length));
      }
    }
  });

test("a run that nobody made says so at each figure, and nothing is called measured", () => {
  bare();
  const model = new TraceModel();
  model.append([{ event: "header", stack: "target", levels: [], simulated: "a plan", sampling: {} }]);
  for (const { text, table } of Object.values(runPlots(model))) {
    assert.match(text, /^Simulated: no model ran\. /);
    assert.ok(!/ measured/.test(JSON.stringify(table)));
  }
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
