// Claims about the figures of a sweep of trainings: what is drawn is what the table beside it says.
// Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";

Object.assign(globalThis, {
  innerWidth: 1200,
  document: { body: {} },
  getComputedStyle: () => ({ getPropertyValue: () => "#808080" }),
});
const { figuresOf } = await import("../../assets/js/systems/nano/scaling-laws.js");
const { hourFigure } = await import("../../assets/js/systems/nano/scaling-laws.js");
const { loadFigure } = await import("../../assets/js/systems/nano/scaling-laws.js");
const { tokensFigure } = await import("../../assets/js/systems/nano/scaling-laws.js");
const { sizesFigure } = await import("../../assets/js/systems/nano/scaling-laws.js");

const GATES = ["gate", "own"];
const around = (/** @type {number} */ value) => [value, value - 0.02, value + 0.03];
const judged = (/** @type {number} */ base) => ({
  held_out: Object.fromEntries(
    GATES.map((gate, i) => [
      gate,
      {
        acceptance: around(base - 0.2 * i),
        tokens_per_pass: around(1 + base),
        agreement: around(base),
        overlap: around(base),
      },
    ]),
  ),
});
const training = (
  /** @type {number} */ share,
  /** @type {number} */ layers,
  /** @type {number} */ rows,
  /** @type {number} */ base,
) => ({
  ...{ share, layers, rows, tokens: 160_000 * share, weights: layers * 4e6 + rows * 500, weight_share: 0.06 },
  ...{ core_seconds: 100 * share, judged: { ...judged(base), other: judged(base - 0.1).held_out } },
});
const law = {
  slope: around(0.03),
  predicted: around(0.44),
  measured: around(0.42),
  off: around(-0.02),
  residuals: [0.01, -0.01, 0, 0],
  ...{
    line: [
      [10_000, 0.3],
      [160_000, 0.44],
    ],
    ahead: [
      [160_000, ...around(0.43)],
      [320_000, ...around(0.46)],
      [640_000, ...around(0.49)],
    ],
  },
};
const measures = { acceptance: law, tokens_per_pass: law, agreement: law, overlap: law };
/** @type {any} */
const SWEEP = {
  id: "one",
  about: { preset: "smollm2" },
  trainings: [
    ...[training(1 / 16, 1, 8192, 0.3), training(1 / 8, 1, 8192, 0.33), training(1 / 4, 1, 8192, 0.36)],
    ...[training(1 / 4, 2, 8192, 0.38), training(1 / 4, 1, 2048, 0.31)],
    ...[training(1 / 2, 1, 8192, 0.39), training(1, 1, 8192, 0.42)],
  ],
  own_size: [0, 1, 2, 5, 6],
  laws: { held_out: { gate: measures, own: measures }, other: { gate: measures, own: measures } },
  texts: { held_out: 72, other: 80 },
  loads: [1, 8].map((load) => ({
    load,
    measured: load === 1,
    gains: [
      [10_000, 1.3 / load, 3],
      [160_000, 1.5 / load, 4],
    ],
  })),
  hour: {
    ...{ per_hour: 2e6, from: 160_000, tokens: 640_000, hours: 0.24, texts: "other" },
    acceptance: { now: around(0.42), then: around(0.49) },
    stacks: [{ stack: "nano,target", blocks: [2], plain: 60, tokens_per_s: { now: [80, 78, 83], then: [90, 87, 93] } }],
  },
};
const ofGate = (/** @type {any} */ shown, /** @type {string} */ mode) =>
  shown.figure.data.filter((/** @type {any} */ one) => one.mode === mode && one.marker?.symbol !== "circle-open");

test("tokens: every dot and its ends are a row of the table, with copies and without", () => {
  for (const texts of ["held_out", "other"]) {
    const shown = tokensFigure(SWEEP, texts, "acceptance");
    const dots = ofGate(shown, "markers").flatMap((/** @type {any} */ one) =>
      one.x.map((/** @type {number} */ x, /** @type {number} */ i) => [
        x,
        ...[one.y[i], one.y[i] - one.error_y.arrayminus[i], one.y[i] + one.error_y.array[i]].map((y) => y.toFixed(3)),
      ]),
    );
    assert.deepEqual(
      dots,
      shown.table.rows.map(([tokens, , ...cells]) => [tokens, ...cells.slice(0, 3)]),
    );
    assert.equal(dots.length, 10);
    assert.equal(shown.figure.layout.xaxis.type, "log");
  }
});

test("tokens: the ring is what the line says at the largest training, which it was fitted without", () => {
  const shown = tokensFigure(SWEEP, "other", "acceptance");
  const rings = shown.figure.data.filter((/** @type {any} */ one) => one.marker?.symbol === "circle-open");
  assert.deepEqual(
    rings.map((/** @type {any} */ one) => [one.x, one.y]),
    [
      [[160_000], [0.44]],
      [[160_000], [0.44]],
    ],
  );
  assert.match(shown.text, /\+3\.0 points .* predicted 44\.0 %, measured 42\.0 %/);
  assert.equal(shown.table.rows[4][6], "\u22120.020");
  const lines = ofGate(shown, "lines").filter((/** @type {any} */ one) => one.line.dash === "dot");
  for (const one of lines) assert.ok(Math.max(...one.x) <= 4 * 160_000, "never beyond four times the tokens");
});

test("too few trainings are drawn without a line", () => {
  const shown = tokensFigure({ ...SWEEP, own_size: [0, 1, 2], laws: {} }, "other", "tokens_per_pass");
  assert.equal(shown.figure.data.length, 2);
  assert.match(shown.text, /Too few trainings/);
  assert.equal(hourFigure({ ...SWEEP, hour: null }), null);
});

test("sizes: the drafts of one share, smallest first, as the table lists them", () => {
  const shown = sizesFigure(SWEEP, "other");
  const dots = shown?.figure.data.flatMap((/** @type {any} */ one) =>
    one.x.map((/** @type {number} */ x) => [one.text[x], one.y[x].toFixed(3)]),
  );
  assert.deepEqual(
    dots,
    shown?.table.rows.map((row) => [row[0], row[5]]),
  );
  assert.deepEqual(shown?.figure.data[0].text, ["1 layer, 2,048 rows", "1 layer, 8,192 rows", "2 layers, 8,192 rows"]);
});

test("an hour: bars are the table's, and the words say what was not run", () => {
  const shown = hourFigure(SWEEP);
  const bars = shown?.figure.data.slice(0, 2).map((/** @type {any} */ one) => one.y[0].toFixed(1));
  assert.deepEqual(
    bars,
    shown?.table.rows.map((row) => row[2]),
  );
  assert.match(
    shown?.text ?? "",
    /^Predicted, not run\. .*four times the tokens at most, 640 thousand, which takes 14 minutes/,
  );
});

test("texts that no training read come first, and every figure has a name of its own", () => {
  const names = figuresOf(SWEEP).map(([name]) => name);
  const expected = ["tokens", "passes", "held-out", "sizes", "hour", "load"];
  assert.deepEqual(
    names,
    expected.map((name) => `scaling-${name}`),
  );
  assert.match(figuresOf(SWEEP)[0][1]().title, /no training read$/);
});

test("requests at once: every dot is a row of the table, and the words say what was not measured", () => {
  const shown = loadFigure(SWEEP);
  const dots = shown?.figure.data.flatMap((/** @type {any} */ { x, y }) =>
    x.map((/** @type {number} */ load, /** @type {number} */ i) => [load, y[i].toFixed(2)]),
  );
  const rows = shown?.table.rows.map((row) => [row[0], row[2]]);
  assert.deepEqual(dots?.map(String).sort(), rows?.map(String).sort());
  assert.match(shown?.text ?? "", /Where the target.s joint passes were not measured/);
  assert.equal(loadFigure({ ...SWEEP, loads: [] }), null);
});
