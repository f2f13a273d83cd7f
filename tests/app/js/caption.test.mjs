// Claims about the caption: one sentence for the event under the cursor, out of the trace alone.

import assert from "node:assert/strict";
import { test } from "node:test";
import { captionAt, plain } from "../../../assets/js/shared/caption/caption.js";
import { leastMs, missedOf } from "../../../assets/js/shared/caption/caption-view.js";
import { commit, draft, drawn, header, modelOf, piece, treeFrom, verify } from "./build.mjs";

const row = (ids, probs, tail = 0) => ({ ids, probs, tail });
const GREEDY = { temperature: 0 };
const SAMPLED = { temperature: 0.8 };

/** A stack of a lookup, a copy and the target over words; checks may be changed before they are read. */
function model(events, { sampling = GREEDY, kinds = ["ngram", "int4", "target"], ...more } = {}) {
  const words = [" the", " highest", " fox", ".", "\n"].map((text, id) => piece(id, text));
  const head = { ...header(...kinds), sampling, ...more };
  if (more.reckoned) head.levels.at(-1).lane = 1;
  return modelOf([head, ...words, ...events]);
}

const said = (m, cursor) => plain(m, captionAt(m, cursor).parts);
const judged = (event, ...changes) => ({
  ...event,
  checks: event.checks.map((check, i) => ({ ...check, ...changes[i] })),
});

test("a copied token is told with the place it comes from", () => {
  const one = { ...draft(0, "0:0", 0, 10), notes: { copies: { copied: [{ at: -3, alike: 2, share: 1 }] } } };
  const m = model([one]);
  assert.equal(said(m, 10), "Round 1: lookups copied \u201cthe\u201d from the prompt.");
  m.append([{ ...draft(0, "1:0", 20, 30), notes: { copies: { copied: [{ at: 0, alike: 2, share: 1 }] } } }]);
  assert.match(said(m, 30), /from the text\.$/);
  const looked = draft(0, "2:0", 40, 50);
  m.append([{ ...looked, tokens: [{ ...looked.tokens[0], source: "m" }] }]);
  assert.match(said(m, 50), /from what the target wrote before\.$/);
});

test("a greedy rejection says in plain words what the verifier wants, and how much more", () => {
  const verdict = judged(verify(1, 0, "0:0x", 10, 20), { p_row: row([1, 2, 0], [0.61, 0.3, 0.02], 0.07) });
  const m = model([draft(0, "0:0", 0, 10), verdict, drawn("correct", 1, 0, 1, 1, 21)]);
  const caption = captionAt(m, 20);
  assert.equal(caption.kind, "reject");
  assert.equal(
    plain(m, caption.parts),
    "Round 1: 4-bit copy rejected \u201cthe\u201d from lookups: it wants \u201chighest\u201d (p 0.61 against 0.02), and wrote that.",
  );
});

test("a rejected token below the rows that were kept is under the least of them; nothing is under no tail", () => {
  const at = (tail, probs) => {
    const verdict = judged(verify(1, 0, "0:0x", 10, 20), { p_row: row([1, 2], probs, tail) });
    return said(model([draft(0, "0:0", 0, 10), verdict]), 20);
  };
  assert.match(at(0.3, [0.6, 0.1]), /\(p 0\.6 against under 0\.1\)/);
  assert.match(at(0.0003, [0.9, 0.0997]), /against under 0\.001\)/);
  assert.match(at(0, [0.6, 0.4]), /against 0\)/);
});

test("a trace without rows says what was written instead, and invents nothing", () => {
  const m = model([draft(0, "0:0", 0, 10), verify(1, 0, "0:0x", 10, 20), drawn("correct", 1, 0, 1, 1, 21)]);
  assert.match(said(m, 20), /: it wrote \u201chighest\u201d in its place\.$/);
});

test("sampled: p, q, alpha and the coin, and what was drawn from the residual", () => {
  const figures = { p: 0.06, q: 0.3, alpha: 0.2, coin: 0.43 };
  const verdict = judged(verify(1, 0, "0:0x", 10, 20), figures);
  const events = [draft(0, "0:0", 0, 10), verdict, drawn("correct", 1, 0, 1, 1, 21)];
  const m = model(events, { sampling: SAMPLED });
  assert.match(
    said(m, 20),
    /: p 0\.06, q 0\.3, so \u03b1 is 0\.2; the coin fell on 0\.43\. It drew \u201chighest\u201d from the/,
  );
  const none = judged(verdict, { ...figures, coin: null, alpha: 0, p: 0 });
  assert.match(said(model([events[0], none], { sampling: SAMPLED }), 20), /: p is 0 there\./);
});

test("sampled and kept: the closest call, with digits that tell coin and alpha apart", () => {
  const verdict = judged(verify(1, 0, "0:0+ 1:1+", 10, 20), { alpha: 1, coin: 0.5 }, { alpha: 0.9512, coin: 0.9488 });
  const m = model([draft(0, "0:0 1:1", 0, 10), verdict], { sampling: SAMPLED });
  assert.match(said(m, 20), /Closest: \u201chighest\u201d, coin 0\.949 under \u03b1 0\.951\./);
});

test("the target's verdict goes on with what its round commits, from the commit on", () => {
  const m = model(
    [
      draft(0, "0:0 1:1", 0, 10),
      verify(1, 0, "0:0+ 1:1+", 10, 20),
      drawn("bonus", 1, 2, 2, 2, 20),
      verify(2, 0, "0:0+ 1:1+ 2:2+", 20, 30),
      drawn("bonus", 2, 3, 3, 3, 31),
      commit(0, "0:0 0 draft, 1:1 0 draft, 2:2 1 bonus, 3:3 2 bonus", 32),
    ],
    {},
  );
  assert.equal(
    said(m, 20),
    "Round 1: 4-bit copy kept both tokens from lookups, \u201cthe highest\u201d, and added \u201cfox\u201d.",
  );
  assert.match(
    said(m, 31),
    /the model kept all 3 tokens from 4-bit copy, \u201cthe highest fox\u201d, and added \u201c\.\u201d\.$/,
  );
  assert.match(
    said(m, 32),
    /the model kept all 3 tokens from 4-bit copy and added \u201c\.\u201d: 4 tokens committed in one pass\.$/,
  );
  assert.notEqual(captionAt(m, 31).key, captionAt(m, 32).key);
});

test("a drafter that had nothing is named; plain decoding has none", () => {
  const m = model([draft(0, [], 0, 10), verify(1, 0, [], 10, 20), drawn("bonus", 1, 0, 0, 0, 20)]);
  assert.equal(said(m, 20), "Round 1: lookups had nothing to offer; 4-bit copy wrote \u201cthe\u201d itself.");
  const alone = model([verify(0, 0, [], 0, 10), drawn("bonus", 0, 0, 0, 4, 10), commit(0, "0:4 0 bonus", 10)], {
    kinds: ["target"],
  });
  assert.equal(said(alone, 10), "Round 1: the model wrote \u201cnew line\u201d.");
});

test("the end says why, how long, and how that compares; a sampled or a simulated run says so", () => {
  const footer = {
    event: "footer",
    reason: "length",
    rounds: 2,
    committed: 2,
    prefill_ns: 0,
    decode_ns: 2e9,
    totals: [],
  };
  const baseline = {
    event: "baseline",
    stack: "target",
    prefill_ns: 0,
    token_ns: [2e9, 4e9],
    equal: 2,
    diverges: false,
  };
  const round = (at, t) => [
    verify(2, at, [], t - 1e9, t, at),
    drawn("bonus", 2, at, at, at, t, at),
    commit(at, [[at, at, 2, "bonus"]], t, at),
  ];
  const run = (more = {}, beside = baseline) =>
    model([...round(0, 1e9), ...round(1, 2e9), footer, ...(beside ? [beside] : [])], more);
  const end = (m) => said(m, m.end).replaceAll("\u00a0", " ");
  assert.equal(
    end(run()),
    "Token limit reached: 2 tokens in 2 rounds and 2.00 s: 2.00 times plain decoding (1.00 against 0.500 tokens/s), the same text.",
  );
  assert.match(end(run({}, { ...baseline, diverges: true, equal: 1 })), /the same text up to token 1\.$/);
  assert.match(end(run({ sampling: SAMPLED })), /; sampled from the same distribution\.$/);
  assert.match(end(run({ simulated: "made" })), /; simulated, no model ran\.$/);
  assert.match(end(run({}, null)), /2\.00 s, 1\.00 tokens\/s\.$/);
  assert.equal(
    end(run({ reckoned: true })),
    "Token limit reached: 2 tokens in 2 rounds and 2.00 s, reckoned for two machines: 2.00 times plain decoding, the same text.",
    "short enough for a phone: both speeds stand in the title",
  );
  const stopped = { ...footer, reason: "stopped", rounds: 0, committed: 0, decode_ns: 0 };
  assert.equal(end(model([stopped])), "Stopped: nothing was written.");
});

test("a plan is told with its levels, their T and what is expected", () => {
  const plan = {
    event: "plan",
    round: 0,
    stack: "",
    t: 5,
    levels: [0, 2],
    blocks: [3],
    predicted_ms: 33.07,
    left_ms: null,
    why: "",
    acceptance: {},
    t0: 0,
  };
  const m = model([plan, { ...plan, t: 9, blocks: [7], predicted_ms: 16.9, left_ms: 21.3 }]);
  assert.equal(said(m, 5), "Round 1: Auto begins with lookups, T 3 and the model: 33.1 ms a token predicted.");
  assert.match(
    said(m, 9),
    /changes the plan to lookups, T 7 and the model: 16\.9 ms a token predicted, 21\.3 with the previous plan\.$/,
  );
});

test("a tree is told by its counts and the path that was kept", () => {
  const offered = treeFrom(draft(0, "0:0 1:1 2:2", 0, 10), [-1, 0, -1]);
  const verdict = verify(1, 0, "0:0x 1:1. 2:2+", 10, 20);
  const m = model([offered, verdict, drawn("bonus", 1, 1, 3, 3, 20)], { kinds: ["ngram", "target"] });
  assert.match(said(m, 10), /lookups offered 2 candidates side by side, 3 tokens, from prompt and output\.$/);
  assert.match(
    said(m, 20),
    /the model kept 1 of 3 tokens, the path \u201cfox\u201d; 1 rejected, 1 not judged\. It wrote \u201c\.\u201d\.$/,
  );
});

test("before the first round the prompt is read", () => {
  const prefill = (level) => ({
    event: "prefill",
    level,
    tokens: 54,
    t0: level * 1e6,
    t1: (level + 1) * 1e6,
    round: null,
  });
  assert.equal(said(model([]), 0), "The prompt is being read.");
  const m = model([prefill(0), prefill(1)], { kinds: ["int4", "target"] });
  assert.match(said(m, 1e6), /^the model and 4-bit copy read the prompt, 54 tokens each, in 2\.00\sms together\.$/);
});

test("what the replay tells is of the round that plays or of the one before, and gives way sooner the older it is", () => {
  const rejected = { t: 15 }; // of the second round
  const model = {
    roundAt: (t) => Math.floor(t / 10),
    moments: { rejectedBetween: (from, to) => (from < 15 && to >= 15 ? rejected : null) },
  };
  assert.equal(missedOf(model, 0, 16), rejected);
  assert.equal(missedOf(model, 0, 29), rejected);
  assert.equal(missedOf(model, 0, 30), null, "the fourth round plays");
  assert.equal(missedOf(model, 16, 29), null);
  assert.ok(leastMs(2) < leastMs(1) && leastMs(1) === leastMs(0));
});

test("a text that would be markup stays text", () => {
  const m = modelOf([
    { ...header("ngram", "target"), sampling: GREEDY },
    piece(0, "<img src=x>"),
    draft(0, "0:0", 0, 10),
  ]);
  assert.match(said(m, 10), /copied \u201c<img src=x>\u201d from/);
});
