// Claims about the card for slides: what it says of a run, and how its text breaks. Run: node --test tests/app/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { commit, draft, header, modelOf, piece, verify } from "./build.mjs";
import { clean, factsOf, linesOf, shortened } from "../../../assets/js/shared/share/slide.js";

const measure = (text) => [...text].length;
const room = (width, most) => ({ width, most, measure });
const part = (text, level = 0) => ({ text, level });
const texts = (lines) => lines.map((runs) => runs.map(({ text }) => text).join("|"));

function run(more = {}, tail = []) {
  const words = ["one ", "<b>two</b>", "\u0000\u202e three"];
  return modelOf([
    { ...header("ngram", "target"), title: "A run", machine: "box, 2 cores", recorded: "2026-11-27T10:00:00", ...more },
    ...words.map((text, id) => piece(id, text)),
    draft(0, "0:0 1:1", 0, 1e6),
    verify(1, 0, "0:0+ 1:1+", 1e6, 9e6),
    commit(0, "0:0 0 draft by 1, 1:1 0 draft by 1, 2:2 1 bonus", 1e7),
    { event: "snapshot", round: 0, t: 1e7, tokens_per_s: 300, tokens_per_target_forward: 3, drafts_kept: 1 },
    { event: "footer", reason: "length", rounds: 1, committed: 3, prefill_ns: 0, decode_ns: 1e7, totals: [] },
    ...tail,
  ]);
}

const plain = { event: "baseline", prefill_ns: 0, token_ns: [1e7, 2e7, 3e7], equal: 3, diverges: false };

test("a card says how fast, by what, where and when", () => {
  const facts = factsOf(run({}, [plain]));
  assert.equal(facts.big, "3.00\u00d7");
  assert.equal(facts.against, "300 against 100 tokens/s");
  assert.deepEqual(facts.beside, ["3.00 tokens a pass", "100 % of drafts kept"]);
  assert.deepEqual([facts.code, facts.where], ["ngram,target", "box, 2 cores, 2026-11-27"]);
  assert.match(facts.stack, /^Lookups/);
  assert.equal(facts.levels.length, 2);
  assert.match(facts.law, /the model alone/);
});

test("what was not measured, what is simulated and what differs is said, not claimed", () => {
  assert.deepEqual([factsOf(run()).big, factsOf(run()).against], ["300", ""]);
  assert.match(factsOf(run({ simulated: "a plan" }, [plain])).law, /no model ran/);
  assert.match(factsOf(run({}, [{ ...plain, equal: 1, diverges: true }])).law, /another text from token 2 on/);
  assert.match(factsOf(run({ lossless: false }, [plain])).law, /may change/);
});

test("its text is text, stretch by stretch of a level, without what XML or a reader cannot take", () => {
  assert.deepEqual(factsOf(run()).parts, [part("one <b>two</b>", 0), part("\ufffd\ufffd three", 1)]);
  assert.equal(clean("a\tb\r\nc\u0007"), "a    b\nc\ufffd");
});

test("lines break at blanks, keep what an indent means, and leave blank lines out", () => {
  assert.deepEqual(texts(linesOf([part("one two three")], room(7, 9))), ["one two", "three"]);
  assert.deepEqual(texts(linesOf([part("if x:\n\n  y = 1\n")], room(20, 9))), ["if x:", "  y = 1"]);
  assert.deepEqual(texts(linesOf([part("unbreakable it")], room(5, 9))), ["unbre", "akabl", "e it"]);
  const [line] = linesOf([part("one "), part("two", 1)], room(20, 9));
  assert.deepEqual(
    line.map(({ level, x, width }) => [level, x, width]),
    [
      [0, 0, 4],
      [1, 4, 3],
    ],
  );
  assert.deepEqual(linesOf([part(" \n ")], room(5, 9)), []);
});

test("a text that is longer than its room ends in an ellipsis that fits", () => {
  assert.deepEqual(texts(linesOf([part("one two three four")], room(7, 2))), ["one two", "three|\u2026"]);
  assert.deepEqual(texts(linesOf([part("one two three four")], room(7, 1))), ["one tw|\u2026"]);
});

test("a line is cut where it no longer fits, and a prompt of any length is measured a few times", () => {
  let read = 0;
  const measure = (text) => {
    read += text.length;
    return [...text].length;
  };
  assert.equal(shortened("as it is", 8, measure), "as it is");
  assert.equal(shortened("as it is.", 8, measure), "as it i\u2026");
  assert.equal(
    shortened("\u{1f600}".repeat(9), 4, measure),
    `${"\u{1f600}".repeat(3)}\u2026`,
    "no half of a character",
  );
  assert.equal(shortened("wide", 0, measure), "\u2026");
  read = 0;
  assert.equal(shortened("x".repeat(1_000_000), 80, measure), `${"x".repeat(79)}\u2026`);
  assert.ok(read < 10_000, `${read} characters were measured`);
});
