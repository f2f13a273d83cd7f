// Claims about the figures of early exits: what is drawn is what the table beside it says. Run: node --test tests/js

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test as always } from "node:test";

Object.assign(globalThis, {
  innerWidth: 1200,
  document: { body: {} },
  getComputedStyle: () => ({ getPropertyValue: () => "#808080" }),
});
const { depthFigure, quarterFigure } = await import("../../assets/js/systems/exits/by-depth.js");
const { ratiosFigure, runsFigure } = await import("../../assets/js/systems/exits/clock.js");
const { nearest } = await import("../../assets/js/systems/exits/by-depth.js");
const { gridFigure, sweepFigure } = await import("../../assets/js/systems/exits/by-depth.js");
const { measuredOf, oneMap, plainMap, rowsOf } = await import("../../assets/js/systems/exits/what-it-takes.js");

const FILE = new URL("../../assets/results/early-exits/depth.jsonl", import.meta.url);
const test = (/** @type {string} */ name, /** @type {() => void} */ claim) =>
  always(name, { skip: existsSync(FILE) ? false : "no study is shipped" }, claim);
const [about, ...records] = (existsSync(FILE) ? readFileSync(FILE, "utf8") : "{}")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
/** @type {any} */
const STUDY = { id: "early-exits", about, records: records.filter((r) => r.what !== "pair" || r.verifier[0] === 8) };

/** @returns {any} */
const trace = (/** @type {any} */ shown, /** @type {number} */ i) => shown.figure.data[i];

test("depths: every point of the chart is a row of the table, and every row a point", () => {
  const shown = depthFigure(STUDY);
  const points = shown.figure.data.flatMap((/** @type {any} */ one) =>
    one.x.map((/** @type {number} */ x, /** @type {number} */ i) => `${x} ${one.y[i].toFixed(3)}`),
  );
  assert.deepEqual(
    points,
    shown.table.rows.map(([at, , agrees]) => `${at} ${agrees}`),
  );
  assert.ok(points.length > about.layers, "all depths and the trained exits");
});

test("a quarter: bars and table agree", () => {
  const shown = quarterFigure(STUDY);
  assert.ok(shown.table.rows.length > 1);
  shown.table.rows.forEach(([name, accepts, kept], i) => {
    assert.equal(trace(shown, 0).y[i], name);
    assert.deepEqual([trace(shown, 0).x[i].toFixed(3), trace(shown, 1).x[i].toFixed(3)], [accepts, kept]);
  });
});

test("the sweep: every cell is a row, and the sentence names the best ones", () => {
  const shown = sweepFigure(STUDY);
  const { x, y, text } = trace(shown, 0);
  const cells = new Map(
    y.flatMap((/** @type {string} */ above, /** @type {number} */ row) =>
      x.map((/** @type {string} */ draft, /** @type {number} */ column) => [`${draft} ${above}`, text[row][column]]),
    ),
  );
  for (const [draft, above, gain] of shown.table.rows) assert.equal(cells.get(`${draft} ${above}`), gain);
  assert.equal(shown.table.rows.length, [...cells.values()].filter(Boolean).length);
  const best = Math.max(...shown.table.rows.filter((row) => row[1] === "none").map((row) => +row[2]));
  assert.ok(shown.text.includes(`${best.toFixed(2)}\u00d7`));
});

test("the measured grid: of runs of two exits at several depths, not of one stack", () => {
  const none = records.filter((r) => r.what !== "run" || !/exit.*exit/.test(r.stack));
  assert.equal(gridFigure({ ...STUDY, records: none }), null);
  assert.equal(gridFigure(STUDY)?.table.rows.length, 21, "six exits alone, and every two of them");
  const run = (/** @type {string} */ stack, /** @type {number} */ speed_up) => ({
    what: "run",
    stack,
    speed_up,
    prompts: 60,
  });
  const pairs = [2, 4].flatMap((low) =>
    [8, 12].map((high) => run(`exit:1@at=${low},exit:2@at=${high}@id=smollm2-exit${high},target`, (low + high) / 10)),
  );
  const others = [
    run("exit:1@at=4,target", 1.2),
    run("exit:4@at=8@policy=del,target", 9),
    run("exit:2,nano:2,target", 9),
  ];
  const shown = gridFigure({ ...STUDY, records: [...pairs, ...others] });
  assert.deepEqual(
    shown?.table.rows.map((row) => row.join(" ")),
    ["2 8 1.00 1, 2", "2 12 1.40 1, 2", "4 8 1.20 1, 2", "4 12 1.60 1, 2", "4 none 1.20 1"],
  );
  assert.match(shown?.text ?? "", /60 prompts.*layers 4 and 12: 1\.60/);
});

test("runs: bars are the measured column, diamonds the computed one", () => {
  const shown = runsFigure(STUDY);
  const [bars, diamonds] = [trace(shown, 0), trace(shown, 1)];
  const computed = new Map(
    diamonds.y.map((/** @type {string} */ name, /** @type {number} */ i) => [name, diamonds.x[i].toFixed(2)]),
  );
  shown.table.rows.forEach(([name, stack, gain, , , , told], i) => {
    assert.deepEqual([bars.y[i], bars.x[i].toFixed(2)], [stack, gain]);
    assert.equal(computed.get(stack) ?? "–", told);
    assert.equal(shown.figure?.layout.yaxis.ticktext[i].replaceAll("<br>", " "), name);
  });
});

test("ratios: a bar a row, the paper's marked as its own", () => {
  const shown = ratiosFigure(STUDY);
  const own = shown.table.rows.filter(([, machine]) => machine !== "reported by HiSpec");
  const bars = shown.figure?.data.slice(0, -1).flatMap((/** @type {any} */ one) => one.x) ?? [];
  assert.deepEqual(bars.map((/** @type {number} */ ratio) => ratio.toFixed(1)).sort(), own.map((row) => row[4]).sort());
  assert.equal(shown.table.rows.length - own.length, trace(shown, shown.figure.data.length - 1).x.length);
});

test("maps: the field, its lines and its table are the same numbers, and today's point is what was measured", () => {
  for (const shown of [plainMap(STUDY), oneMap(STUDY, "measured"), oneMap(STUDY, "ideal")]) {
    const [field, one, paper] = [0, 1, 2].map((i) => trace(shown, i));
    const cells = field.text.flat();
    assert.deepEqual(
      cells,
      shown?.table.rows.map((row) => row[2]),
    );
    assert.deepEqual(
      one.z.flat().map((/** @type {number} */ gain) => gain.toFixed(2)),
      cells,
    );
    assert.deepEqual([one.contours.start, paper.contours.start], [1, 1.28]);
  }
  const [today] = STUDY.records.filter((/** @type {any} */ r) => r.what === "today");
  const point = trace(oneMap(STUDY, "measured"), 3);
  assert.deepEqual([point.x, point.y], [[today.upper], [today.inner]]);
  assert.ok(point.text[0].startsWith(`measured ${measuredOf(STUDY)?.one.toFixed(2)}, computed `));
  assert.equal(trace(oneMap(STUDY, "ideal"), 3), undefined, "nothing was measured at such costs");
});

test("the nearest point that reaches a level is the one of the smallest acceptance", () => {
  const rows = [
    { y: 0.5, x: [0.1, 0.2, 0.3], z: [0.5, 0.9, 1.1] },
    { y: 0.6, x: [0.1, 0.2, 0.3], z: [0.5, 1.0, 0.8] },
  ];
  assert.deepEqual(nearest(rows, 1), { x: 0.2, y: 0.6 });
  assert.equal(nearest(rows, 1.28), null);
  assert.ok(rowsOf(STUDY, "one", "ideal").length > 10);
});
