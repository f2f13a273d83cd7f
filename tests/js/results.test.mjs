// Claims about what stands beside what in Results. Run: node --test tests/js

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { sentences } from "../../assets/js/tabs/results/claim.js";
import {
  columnsOf,
  stacksOf,
  endOf,
  groupsOf,
  same,
  peerText,
  sameText,
} from "../../assets/js/tabs/results/columns.js";
import "../../assets/js/systems/exits/early-exits.js";
import { optionOf } from "../../assets/js/tabs/results/machine-picker.js";

const BENCHES = new URL("../../assets/results/", import.meta.url);
const THREE = "ngram:2,int8:5,target";
const EXITS = "exit:2@at=4,exit:4@at=8,target";

/** @returns {any} */
const row = (/** @type {string} */ stack, /** @type {number} */ gain, more = {}) => ({
  stack,
  plain: stack.split(",").at(-1)?.replace(/:\d+/, ""),
  prompts: 12,
  tokens_per_s: 10 * gain,
  speed_up: gain,
  interval: [gain - 0.1, gain + 0.1],
  accepted_per_pass: 2,
  equal: 1,
  tasks: {},
  ...more,
});
const PEERS = [
  { name: "transformers plain", tokens_per_s: 4, beside_plain: 0.4, same_tokens: 1, why: "" },
  { name: "llama.cpp plain", tokens_per_s: 23, beside_plain: 2.3, same_tokens: 0.41, why: "" },
  { name: "llama.cpp lookup", tokens_per_s: null, why: "not installed" },
];
const STACKS = [row("ngram:3,target@dtype=int8", 1.2), row("target@dtype=int8", 1), row(THREE, 1.8), row("target", 1)];

/** @returns {any} */
const column = (claim = {}, stacks = STACKS, /** @type {any} */ lost = undefined) =>
  columnsOf([
    {
      id: "one",
      csv: "",
      lost,
      results: /** @type {any} */ ({
        about: { machine: "here", dtype: "float32", recorded: "2026-01-02 03:04 UTC" },
        stacks,
        peers: PEERS,
        claim,
      }),
    },
  ])[0];

test("a paper's figures are drawn as its own, beside a benchmark that has one", async () => {
  Object.assign(globalThis, {
    innerWidth: 1200,
    document: { body: {} },
    getComputedStyle: () => ({ getPropertyValue: () => "#808080" }),
  });
  const { drawnFigure, paperFigure, tasksFigure } = await import("../../assets/js/tabs/results/by-task.js");
  const ours = column({}, [row(THREE, 1.8, { tasks: { qa: 1.8, rag: 0.5 } }), row("target", 1)]);
  assert.deepEqual(
    tasksFigure(ours).table.rows.map((one) => one.slice(1).join(" ")),
    [`${THREE} 1.80\u00d7 0.50\u00d7`],
  );
  assert.equal(paperFigure(ours), null);
  const rows = [
    { name: "HD", stack: THREE, tasks: { QA: 1.39 } },
    { name: "REST", stack: "", tasks: { QA: 1.36 } },
  ];
  const shown = paperFigure({ ...ours, paper: { paper: "a table", on: "a GPU", why: "Rows cost more.", rows } });
  assert.equal(shown?.title, "Reported: a table");
  assert.equal(shown?.text, "Not measured here: on a GPU. Rows cost more.");
  assert.deepEqual(shown?.table.rows, [
    ["HD", THREE, "1.39\u00d7"],
    ["REST", "REST", "1.36\u00d7"],
  ]);
  assert.deepEqual(shown?.figure?.data[0].y, [THREE, "REST"]);
  assert.equal(drawnFigure(ours), null);
  const drawn = { [THREE]: { 0.1: 1.4, "1.0": 0.8 } };
  const theirs = { paper: "", on: "a GPU", why: "", rows, drawn: [{ name: "HD", stack: "", tasks: { 0.1: 1.47 } }] };
  const warm = drawnFigure({ ...ours, drawn, paper: theirs });
  assert.deepEqual(
    warm?.table.rows.map((one) => one.slice(1).join(" ")),
    [`${THREE} 1.40\u00d7 0.80\u00d7`, "HD 1.47\u00d7 "],
  );
  assert.ok(warm?.text.endsWith("on a GPU."));
});

test("a stack that is not exact stands beside its price, exact ones on the line where nothing is lost", async () => {
  const { priceFigure } = await import("../../assets/js/tabs/results/what-is-lost.js");
  assert.equal(priceFigure(column(), "spared"), null);
  const price = { spared: 0.2, surprise: 1.2, plain: 0.6 };
  const lossy = row("ngram:3,target@rule=top@k=3", 2, { price });
  const of = (/** @type {"spared"|"surprise"} */ measure) =>
    priceFigure(column({}, [row(THREE, 1.8), lossy, row("target", 1)]), measure);
  assert.deepEqual(
    of("spared")?.figure.data.map(({ x, y }) => [...x, ...y]),
    [
      [0, 1.8],
      [20, 2],
    ],
  );
  assert.deepEqual(
    of("surprise")?.figure.data.map(({ x }) => x),
    [[0.6], [1.2]],
  );
  assert.deepEqual(of("spared")?.table.rows[1].slice(2), ["2.00\u00d7", "20\u2009%", "1.20 (0.60)"]);
});

test("stacks stand with those of the same target, and a program only where it writes that text", () => {
  const groups = groupsOf(column());
  assert.deepEqual(
    groups.map(({ plain, target, lines }) => [plain, target, lines.map(({ name }) => name)]),
    [
      ["target", "float32", [THREE, "target", "transformers plain"]],
      ["target@dtype=int8", "int8", ["ngram:3,target@dtype=int8", "target@dtype=int8"]],
      [null, "float32", ["llama.cpp plain"]],
    ],
  );
  assert.ok(endOf(groups) >= 2.3);
});

test("a stack that two lines of a file asked for stands there once", () => {
  const [{ lines }] = groupsOf(column({}, [...STACKS, ...STACKS]));
  assert.equal(lines.filter(({ name }) => name === THREE).length, 1);
});

test("whose text it is stands beside every yes", () => {
  const one = column();
  const said = (/** @type {any} */ x) => sameText(x, one);
  assert.equal(said(row(THREE, 1.8)), "yes, float32\u2019s");
  assert.equal(said(row("ngram:3,target@dtype=int8", 1.2)), "yes, int8\u2019s");
  assert.equal(said(row("target@dtype=int8", 1)), "plain int8");
  assert.equal(said(row(THREE, 1.8, { equal: 0.75 })), "9 of 12, float32\u2019s");
  assert.equal(said(row(THREE, 1.8, { equal: null })), "sampled");
  const price = { spared: 0.125, surprise: 0.8, plain: 0.5 };
  assert.match(said(row(THREE, 1.8, { equal: 0.75, price })), /^9 of 12, float32\u2019s; 13\s?% not its own$/);
  assert.deepEqual(
    PEERS.slice(0, 2).map((peer) => peerText(/** @type {any} */ (peer), one)),
    ["yes, float32\u2019s", "no, the first 41 %"],
  );
});

test("the table of all figures has the target as it is before its copies", () => {
  assert.deepEqual(stacksOf(column()), [THREE, "target", "ngram:3,target@dtype=int8", "target@dtype=int8"]);
});

const entry = (/** @type {string} */ stack, /** @type {number} */ speed_up, tokens = 6, passes = 4) => ({
  stack,
  levels: stack.split(",").length,
  speed_up,
  interval: [speed_up - 0.1, speed_up + 0.1],
  tokens,
  passes,
});

test("the headline has its interval, says what may be chance, and why a stack loses", () => {
  const claim = {
    best: [entry(THREE, 1.79), entry("ngram:5,target", 1.65)],
    over: { speed_up: 1.09, interval: [0.98, 1.2] },
    loses: [entry(EXITS, 0.76, 2.33, 3.06)],
  };
  const lost = { [EXITS]: { exits: [{ at: 4, of: 30, share: 0.203 }] } };
  const said = sentences(column(claim, STACKS, lost));
  assert.equal(said[0], "Three levels: 1.79 times as fast as the model alone (1.69 to 1.89); two levels: 1.65.");
  assert.match(said[1], /1\.09 times \(0\.98 to 1\.20\)\. With 12 prompts that may be chance\.$/);
  assert.match(said[2], /as long as 4\.00 passes of the float32 model alone, and yields 6\.00 tokens/);
  assert.match(
    said[3],
    /^HiSpec\u2019s exits lose here: 0\.76 .* 3\.06 passes and yields 2\.33 tokens\. The first 4 of 30 layers take 20 % of a pass\.$/,
  );
  const sure = sentences(column({ ...claim, over: { speed_up: 1.3, interval: [1.2, 1.4] } }));
  assert.match(sure[1], /^Three levels are faster than two levels on the same prompts: 1\.30 times/);
  const chosen = sentences(column(claim), "ngram:9,target");
  assert.equal(chosen[0], "The best of these stacks is 1.79 times as fast as the model alone (1.69 to 1.89).");
  assert.match(chosen[1], /default stack was not among them/);
  assert.equal(sentences(column(claim), THREE)[0], said[0]);
  assert.match(sentences(column({ best: [entry(THREE, 0.9)], over: null, loses: [] }))[0], /^No stack is faster/);
});

test("no two benchmarks of the menu read alike, and what a file of stacks is about is said in words", () => {
  const files = readdirSync(BENCHES).map((name) => new URL(`${name}/results.json`, BENCHES));
  const shipped = files.filter((file) => existsSync(file)).map((file) => JSON.parse(readFileSync(file, "utf8")));
  const read = shipped.map((one) => `${one.about.preset}: ${optionOf(one)}`);
  assert.ok(read.length > 8);
  assert.deepEqual([...new Set(read)], read);
  for (const said of read) assert.doesNotMatch(said, /smollm2-|\.txt|assets/);
  const own = {
    about: { preset: "toy", machine: "here", command: "bench --stacks dir/toy-mine.txt" },
    stacks: [{ prompts: 2 }],
  };
  assert.equal(optionOf(own), "mine: here, 2 prompts");
  assert.equal(optionOf({ ...own, about: { ...own.about, command: "bench" } }), "here, 2 prompts");
});

test("another program's text is the same where it was compared and every token agreed", () => {
  assert.deepEqual(
    [1, 0.99999, 0.998, 0, undefined].map((same_tokens) => same(/** @type {any} */ ({ same_tokens }))),
    [true, true, false, false, false],
  );
});
