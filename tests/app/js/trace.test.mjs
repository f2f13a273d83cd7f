// Claims about the client's model of a run. Run: node --test tests/app/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { isCopy, origin, promptText } from "../../../assets/js/shared/run/copies.js";
import { colouring, msPerToken } from "../../../assets/js/shared/text/token/token.js";
import { place } from "../../../assets/js/shared/run/tokens.js";
import { TraceModel } from "../../../assets/js/shared/run/trace.js";
import { commit, draft, drawn, header, modelOf as model, piece, verify } from "./build.mjs";

const LETTERS = ["a", "b", "c", "d", "e", "f", "g"].map((x, i) => piece(i, x));

/** Two rounds of a stack of three: Q rejects b and corrects it to c; T rejects that c and corrects it to d. */
function three() {
  return [
    header("ngram", "int8", "target"),
    ...LETTERS,
    draft(0, "0:0 1:1 2:2", 0, 30),
    verify(1, 0, "0:0+ 1:1x 2:2.", 30, 60),
    drawn("correct", 1, 1, 3, 2, 61),
    draft(2, "4:4", 62, 70),
    verify(1, 2, "4:4x", 70, 90),
    drawn("correct", 1, 2, 5, 5, 91),
    verify(2, 0, "0:0+ 3:2x 5:5.", 100, 200),
    drawn("correct", 2, 1, 6, 3, 201),
    commit(0, "0:0 0 draft by 1+2, 6:3 2 correct", 202),
    draft(2, "7:4", 210, 220, 1),
    verify(1, 2, "7:4+", 220, 240, 1),
    verify(2, 2, "7:4+", 240, 300, 1),
    drawn("bonus", 2, 3, 8, 6, 301, 1),
    commit(2, "7:4 0 draft by 1+2, 8:6 2 bonus", 302, 1),
  ];
}

const shown = (m, t) => [m.committed.slice(0, m.committedAt(t)), m.aliveAt(t).map((x) => x.serial)];

test("what is shown at a cursor is the committed prefix and the tentative tokens", () => {
  const m = model(three());
  assert.deepEqual(shown(m, 5), [[], []]);
  assert.deepEqual(shown(m, 30), [[], [0, 1, 2]]);
  assert.deepEqual(shown(m, 61), [[], [0, 3]]);
  assert.deepEqual(shown(m, 150), [[], [0, 3, 5]]);
  assert.deepEqual(shown(m, 202), [[0, 6], []]);
  assert.deepEqual(shown(m, 302), [[0, 6, 7, 8], []]);
  assert.equal(m.text(), "adeg");
});

test("drafted tokens appear one after the other within the draft's time", () => {
  const m = model(three());
  assert.deepEqual(
    [0, 1, 2].map((s) => m.tokens.get(s).tDraft),
    [10, 20, 30],
  );
});

test("a rejected token knows who caught it, those behind it with whom they were lost", () => {
  const m = model(three());
  assert.equal(m.tokens.get(1).goneBy, 1);
  assert.equal(m.tokens.get(2).goneBy, null);
  assert.equal(m.tokens.get(2).lostWith, 1);
  assert.equal(m.tokens.get(3).goneBy, 2, "a correction of a middle level is caught by the target");
  assert.deepEqual(
    m.tokens.get(3).followers.map((x) => x.serial),
    [5],
  );
  assert.deepEqual(
    m.ghosts.map((x) => x.serial),
    [1, 4, 3],
  );
});

test("a ghost moves to the place where the text was cut before it", () => {
  const m = model(three());
  const ghost = m.tokens.get(4);
  assert.equal(place(ghost, 150), 2);
  assert.equal(place(ghost, 200), 1);
  assert.equal(place(m.tokens.get(1), 1000), 1);
});

test("passed holds the levels that accepted a token, each with its time", () => {
  const passed = model(three()).tokens.get(0).passed;
  assert.deepEqual(passed, [
    { level: 1, t: 60 },
    { level: 2, t: 200 },
  ]);
});

test("the state at a cursor is the same whether events came at once or one by one", () => {
  const whole = model(three());
  const slow = new TraceModel();
  for (const event of three()) slow.append([event]);
  for (let t = 0; t <= 310; t += 3) assert.deepEqual(shown(slow, t), shown(whole, t));
  assert.deepEqual(slow.cells, whole.cells);
});

test("a prefix of the events shows what the whole trace shows at that prefix's end", () => {
  const events = three();
  const whole = model(events);
  for (let n = 1; n <= events.length; n++) {
    const part = model(events.slice(0, n));
    const next = events[n];
    if (next && (next.t1 ?? next.t ?? Infinity) <= part.end) continue; // the next event ends at the same moment
    assert.deepEqual(shown(part, part.end), shown(whole, part.end), `after ${n} events`);
  }
});

test("an interrupted run keeps its tentative tokens; a footer drops them", () => {
  const events = three().slice(0, 14);
  assert.deepEqual(shown(model(events), 95)[1], [0, 3, 5]);
  const ended = model([
    ...events,
    { event: "footer", reason: "stopped", rounds: 0, committed: 0, prefill_ns: 0, decode_ns: 0, totals: [] },
  ]);
  assert.deepEqual(shown(ended, ended.end)[1], []);
});

test("a stack of one level commits what it draws", () => {
  const m = model([
    header("target"),
    ...LETTERS,
    verify(0, 0, [], 0, 50),
    drawn("bonus", 0, 0, 0, 3, 51),
    commit(0, "0:3 0 bonus", 52),
  ]);
  assert.equal(m.text(), "d");
  assert.equal(m.levels[0].tag, "T");
  assert.equal(m.ghosts.length, 0);
  assert.equal(m.segments[0].tokensOut, 1);
});

test("tokens that share one character form one cell, and the cell has no text before it is whole", () => {
  const bytes = [...new TextEncoder().encode("🙂")];
  const pieces = [piece(0, bytes.slice(0, 2)), piece(1, bytes.slice(2, 3)), piece(2, bytes.slice(3))];
  const tokens = [0, 1, 2].map((i) => [i, i, 0, "bonus"]);
  const m = model([header("target"), ...pieces, commit(0, tokens.slice(0, 2), 5)]);
  assert.deepEqual(
    m.cells.map((x) => [x.serials, x.text, x.partial]),
    [[[0, 1], "", true]],
  );
  m.append([commit(2, tokens.slice(2), 9, 1)]);
  assert.deepEqual(
    m.cells.map((x) => [x.serials, x.text, x.partial]),
    [[[0, 1, 2], "🙂", false]],
  );
});

test("bytes that are not UTF-8 show as a replacement and end where the next character begins", () => {
  const m = model([
    header("target"),
    piece(0, [0xe2, 0x80]),
    piece(1, "a"),
    piece(2, [0xff]),
    commit(0, "0:0 0 bonus, 1:1 0 bonus, 2:2 0 bonus", 5),
  ]);
  assert.deepEqual(
    m.cells.map((x) => x.text),
    ["\ufffd", "a", "\ufffd"],
  );
  assert.equal(m.pieceText(0), "\u2039E2 80\u203a");
});

test("marks, joiners and flags stay with what they belong to", () => {
  const parts = ["e", "\u0301", "👩", "\u200d", "🚀", "🇫", "🇷", "🇩"];
  const m = model([
    header("target"),
    ...parts.map((x, i) => piece(i, x)),
    commit(
      0,
      parts.map((_, i) => [i, i, 0, "bonus"]),
      5,
    ),
  ]);
  assert.deepEqual(
    m.cells.map((x) => x.text),
    ["e\u0301", "👩\u200d🚀", "🇫🇷", "🇩"],
  );
});

test("special tokens are not part of the text", () => {
  const m = model([
    header("target"),
    piece(0, "hi"),
    piece(1, "<|im_end|>", true),
    commit(0, "0:0 0 bonus, 1:1 0 bonus", 5),
  ]);
  assert.equal(m.text(), "hi");
  assert.deepEqual(
    m.cells.map((x) => x.special),
    [false, true],
  );
});

test("the figures at a cursor are the engine's last snapshot before it", () => {
  const m = model(three());
  assert.equal(m.snapshotAt(302), null);
  m.append([{ event: "snapshot", round: 0, t: 202, committed: 2, tokens_per_s: 5, levels: [] }]);
  m.append([{ event: "snapshot", round: 1, t: 302, committed: 4, tokens_per_s: 7, levels: [] }]);
  assert.equal(m.snapshotAt(100), null);
  assert.equal(m.snapshotAt(301).tokens_per_s, 5);
  assert.equal(m.snapshotAt(302).tokens_per_s, 7);
});

test("a level's figures at a cursor are those after its last call, so that a rejection counts at once", () => {
  const m = model(three());
  const gauge = (level, t, accepted, judged) => ({ event: "gauge", level, t, accepted, judged });
  m.append([gauge(1, 60, 1, 2), gauge(1, 90, 1, 3), gauge(2, 200, 1, 2)]);
  const counts = (cursor, level) => m.figures.of(cursor, level)?.judged ?? null;
  assert.deepEqual(
    [59, 60, 89, 90, 500].map((cursor) => counts(cursor, 1)),
    [null, 2, 2, 3, 3],
  );
  assert.deepEqual(
    [199, 200].map((cursor) => counts(cursor, 2)),
    [null, 2],
  );
});

test("each way to colour gives a token one category", () => {
  const m = model(three());
  const of = (by, serial) => colouring(m, by).of(m.tokens.get(serial), Infinity).letter;
  assert.deepEqual([of("level", 0), of("level", 6)], ["N", "T"]);
  assert.deepEqual([of("passed", 0), of("passed", 6)], ["Q", "T"]);
  assert.deepEqual([of("source", 0), of("source", 3)], ["c", "Q"]);
  assert.match(of("time", 0), /^[1-5]$/);
  assert.equal(msPerToken(m, m.tokens.get(0)), 202 / 2 / 1e6);
});

test("levels of one kind are told apart by a number", () => {
  const m = model([header("ngram", "exit", "exit", "target")]);
  assert.deepEqual(
    m.levels.map((x) => x.tag),
    ["N", "E1", "E2", "T"],
  );
  assert.equal(new Set(m.levels.map((x) => x.hue)).size, 4);
  assert.deepEqual(
    m.levels.map((x) => x.name),
    ["lookups", "early exit 1", "early exit 2", "the model"],
  );
});

test("levels that read at different layers are told apart by them", () => {
  const own = header("exit", "exit", "target");
  const named = (stack) => model([{ ...own, stack }]).levels.map((x) => x.name);
  assert.deepEqual(named("exit:2@at=4,exit:4@at=8,target"), ["exit at layer 4", "exit at layer 8", "the model"]);
  assert.deepEqual(named("one:2,two:4,three"), ["early exit 1", "early exit 2", "the model"], "as they are drawn");
});

test("the prompt is found in a chat template whose words are several tokens, and is raw where there is none", () => {
  const words = ["<|im_start|>", "user", "\n", "Say", " hello", "<|im_end|>", "assistant"];
  const pieces = words.map((x, i) => piece(i, x, x.startsWith("<|")));
  const asked = (ids) => promptText(model([{ ...header("target"), prompt_ids: ids }, ...pieces]));
  assert.deepEqual(asked([0, 1, 2, 3, 4, 5, 2, 0, 6, 2]), { text: "Say hello", raw: false });
  assert.deepEqual(asked([3, 4]), { text: "Say hello", raw: true });
});

const copying = (event, ...copied) => ({
  ...event,
  tokens: event.tokens.map((token) => ({ ...token, source: "nano" })),
  notes: { copies: { copied } },
});

test("a copied token names its origin, in the prompt or in the text as it stood when the token was drafted", () => {
  const m = model([
    { ...header("nano", "target"), prompt_ids: [0, 1, 2] },
    ...LETTERS,
    copying(draft(0, "0:1 1:2", 0, 10), { at: -2, alike: 1, share: 0.9 }, null),
    verify(1, 0, "0:1+ 1:2x", 10, 20),
    drawn("correct", 1, 1, 2, 3, 21),
    commit(0, "0:1 0 draft by 1, 2:3 1 correct", 22),
    copying(draft(2, "3:3 4:6", 30, 40, 1), { at: 1, alike: 2, share: 0.4 }, { at: 9, alike: 1, share: 1 }),
  ]);
  const from = (serial) => origin(m, m.tokens.get(serial));
  assert.deepEqual(from(0), { where: "the prompt", before: "a", token: "b", after: "c", serial: null });
  assert.deepEqual(
    from(3),
    { where: "the text", before: "b", token: "d", after: "", serial: 2 },
    "the correction, not the draft before it",
  );
  assert.equal(from(1), null);
  assert.equal(from(4), null, "a file may name a place that never was");
  assert.deepEqual(
    [0, 1, 3].map((s) => isCopy(m.tokens.get(s))),
    [true, false, false],
  );
  const by = colouring(m, "source");
  assert.notEqual(by.of(m.tokens.get(0)).key, by.of(m.tokens.get(1)).key);
});

test("ghosts from a place on are those that a look at all of them finds", () => {
  const m = model(three());
  for (let t = 0; t <= 310; t += 5)
    for (let from = 0; from < 6; from++)
      assert.deepEqual(
        m.ghostsFrom(t, from).map(([at, x]) => [at, x.serial]),
        m.ghosts.filter((x) => x.tGone <= t && place(x, t) >= from).map((x) => [place(x, t), x.serial]),
        `at ${t} from ${from}`,
      );
});

test("what a pass asked its store of a text stands with its work", () => {
  const asked = { rows: 3, ns: 20 };
  const m = model([
    header("int8", "target"),
    ...LETTERS,
    draft(0, "0:0 1:1", 0, 30),
    { ...verify(1, 0, "0:0+ 1:1+", 30, 90), notes: { asked } },
    drawn("bonus", 1, 2, 2, 2, 91),
    commit(0, "0:0 0 draft by 1, 1:1 0 draft by 1, 2:2 1 bonus", 92),
  ]);
  assert.deepEqual(
    m.segments.map((segment) => segment.notes?.asked),
    [undefined, asked],
  );
});
