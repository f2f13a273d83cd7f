// Claims about lookups and the context's database as the page rebuilds them from a trace. Run: node --test tests/js

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { Book, rulesOf } from "../../assets/js/systems/ngram/book.js";
import { Ledger } from "../../assets/js/systems/ngram/ledger.js";
import { givenAt, keptBehind } from "../../assets/js/systems/ngram/window.js";
import { commit, draft, drawn, header, modelOf, piece, recorded, verify } from "../app/js/build.mjs";

const RULES = { minKey: 1, maxKey: 2, kept: 2, continuation: 4 };
const PARAMS = {
  db: "cms",
  continuation: 4,
  max_continuations: 2,
  reach: { c: { min_key: 1, max_key: 2 } },
};

function bookOf(ids, rules = RULES) {
  const book = new Book(rules);
  for (const id of ids) book.add(id);
  return book;
}

/** What is behind every key, oldest first, read from the newest entries alone. */
function held(book, n) {
  return book
    .newest(n, Infinity)
    .flatMap(({ at, lengths }) => lengths.map((length) => `${book.text.slice(at - length, at)}>${book.text[at]}@${at}`))
    .sort();
}

/** The same, kept as ContextDatabase does. */
function kept(ids, { minKey, maxKey, kept: most }) {
  const index = new Map();
  ids.forEach((id, at) => {
    for (let length = minKey; length <= Math.min(maxKey, at); length++) {
      const key = String(ids.slice(at - length, at));
      const one = (index.get(key) ?? []).filter((x) => x.id !== id);
      if (one.length >= most) one.shift();
      index.set(key, [...one, { id, at }]);
    }
  });
  return [...index].flatMap(([key, list]) => list.map(({ id, at }) => `${key}>${id}@${at}`)).sort();
}

test("at every moment the log gives the entries that were held then", () => {
  let seed = 1;
  const ids = Array.from({ length: 120 }, () => (seed = (seed * 48271) % 2147483647) % 5);
  const book = bookOf(ids);
  for (let n = 0; n <= ids.length; n++) {
    const want = kept(ids.slice(0, n), RULES);
    assert.deepEqual(held(book, n), want);
    assert.equal(book.sizes[n], want.length);
  }
  assert.ok(book.evictions.at(-1) > 10);
});

test("what had to go is named, newest first, with the place that it pointed to", () => {
  const book = bookOf([1, 10, 1, 11, 1, 12], { ...RULES, maxKey: 1 });
  assert.deepEqual(book.lastOut(6, 3), [{ at: 1, length: 1, by: 5 }]);
  assert.deepEqual(book.lastOut(5, 3), []);
  assert.deepEqual(book.newest(6, 60)[0], { at: 5, lengths: [1], fresh: 1, out: [{ at: 1, length: 1 }] });
});

test("the window of entries is bounded whatever the run's length", () => {
  const book = bookOf(Array.from({ length: 10_000 }, (_, i) => i % 997));
  const shown = book.newest(10_000, 60);
  assert.ok(shown.reduce((sum, x) => sum + x.lengths.length, 0) < 60 + RULES.maxKey);
  assert.ok(shown.every((x) => x.at > 9_900));
});

test("a header that does not say how D_c is kept, or says nonsense, gives no entries", () => {
  assert.deepEqual(rulesOf(PARAMS), RULES);
  const odd = [
    undefined,
    { db: "c" },
    { ...PARAMS, max_continuations: 0 },
    { ...PARAMS, continuation: "4" },
    { ...PARAMS, reach: { c: { min_key: 1, max_key: 1e9 } } },
    { ...PARAMS, reach: { c: { min_key: 3, max_key: 2 } } },
    { ...PARAMS, reach: "x" },
  ];
  for (const params of odd) assert.equal(rulesOf(params), null);
});

/** Prompt 5 6 7; N finds 7 8 in the context (key 6), then m says 9, then none knows; T keeps 7 8, rejects 9 for 1. */
function small() {
  const head = header("ngram", "target");
  head.prompt_ids = [5, 6, 7, 8, 5, 6];
  head.levels[0].params = PARAMS;
  const found = draft(0, "0:7 1:8 2:9", 0, 30);
  const drafted = {
    ...found,
    tokens: found.tokens.map((token, i) => ({ ...token, source: "ccm"[i] })),
    notes: {
      copies: { copied: [{ at: -4, alike: 2, share: 1 }, { at: -3, alike: 3, share: 1 }, null] },
      lookups: { keys: [2, 2, 1], silent: 1 },
    },
  };
  const model = modelOf([
    head,
    ...[1, 5, 6, 7, 8, 9].map((id) => piece(id, String(id))),
    drafted,
    verify(1, 0, "0:7+ 1:8+ 2:9x", 30, 60),
    drawn("correct", 1, 2, 3, 1, 60),
    commit(0, "0:7 0 draft by 1, 1:8 0 draft by 1, 3:1 1 correct", 61),
    { event: "report", level: 0, t0: 61, t1: 62, notes: { filed: { inserts: 17, evictions: 0 } } },
    { ...draft(3, [], 70, 80, 1), notes: { lookups: { silent: 1 } } },
  ]);
  const ledger = new Ledger(model);
  ledger.catchUp();
  return ledger;
}

test("a draft falls into the lookups that it was made of, the silent one too", () => {
  const { lookups } = small();
  assert.deepEqual(
    lookups.map(({ letter, key, serials, at, from }) => ({ letter, key, serials, at, from })),
    [
      { letter: "c", key: 2, serials: [0, 1], at: 0, from: -4 },
      { letter: "m", key: 1, serials: [2], at: 2, from: null },
      { letter: null, key: null, serials: [], at: 3, from: null },
      { letter: null, key: null, serials: [], at: 3, from: null },
    ],
  );
});

test("keys are the words before, those drafted in the same go included", () => {
  const ledger = small();
  assert.deepEqual(ledger.keyOf(ledger.lookups[0]), [5, 6]);
  assert.deepEqual(ledger.keyOf(ledger.lookups[1]), [8]);
});

test("shares follow the cursor: offered with the draft, kept with the commit", () => {
  const ledger = small();
  assert.deepEqual(ledger.at(10).by.c, { answered: 0, offered: 0, kept: 0 });
  assert.deepEqual(ledger.at(30).by.c, { answered: 1, offered: 2, kept: 0 });
  assert.deepEqual(ledger.at(61).by, {
    c: { answered: 1, offered: 2, kept: 2 },
    m: { answered: 1, offered: 1, kept: 0 },
    s: { answered: 0, offered: 0, kept: 0 },
  });
  assert.deepEqual([ledger.at(61).silent, ledger.at(80).silent], [1, 2]);
  assert.deepEqual([ledger.seen(29), ledger.seen(30), ledger.seen(80)], [0, 3, 4]);
});

test("a lookup's fate is that of its tokens at the moment", () => {
  const ledger = small();
  const [copied, said] = ledger.lookups;
  assert.deepEqual(ledger.fate(copied, 30), { kept: 0, rejected: 0, lost: 0, waiting: 2, committed: 0 });
  assert.deepEqual(ledger.fate(copied, 61), { kept: 2, rejected: 0, lost: 0, waiting: 0, committed: 2 });
  assert.deepEqual(ledger.fate(said, 61), { kept: 0, rejected: 1, lost: 0, waiting: 0, committed: 0 });
});

const folder = new URL("../../assets/traces/", import.meta.url);
for (const name of readdirSync(folder).filter((x) => x.endsWith(".gz"))) {
  const events = recorded(name.replace(".jsonl.gz", ""));
  const looks = events[0].levels.some((level) => level.kind === "ngram");

  test(`${name}: offered tokens are the drafted ones, kept ones the committed ones`, { skip: !looks }, () => {
    const model = modelOf(events);
    const ledger = new Ledger(model);
    ledger.catchUp();
    const last = ledger.at(Infinity);
    for (const letter of ledger.order) {
      const drafts = events.filter((e) => e.event === "draft" && e.level === ledger.level);
      const commits = events.filter((e) => e.event === "commit").flatMap((e) => e.tokens);
      const { offered, kept } = last.by[letter];
      assert.equal(offered, drafts.flatMap((e) => e.tokens).filter((x) => x.source === letter).length);
      assert.equal(kept, commits.filter((x) => x.source === letter && x.how === "draft").length);
    }
    assert.ok(ledger.order.length && ledger.agrees !== false, "its text gives the filings that it counts");
    assert.equal(
      last.silent,
      events.reduce((sum, x) => sum + (x.notes?.lookups?.silent ?? 0), 0),
    );
  });
}

test("what is kept behind a token are its last different n-grams, newest first", () => {
  const filed = [
    [1, 2, 3],
    [1, 2, 4],
    [7, 2, 3],
    [1, 2, 3],
    [1, 5, 5],
  ];
  assert.deepEqual(keptBehind(filed, 1, 2), [
    [1, 5, 5],
    [1, 2, 3],
  ]);
  assert.deepEqual(keptBehind(filed, 7, 2), [[7, 2, 3]]);
  assert.deepEqual(keptBehind(filed, 9, 2), []);
});

test("a draft out of earlier outputs is one lookup under one key", () => {
  const head = header("suffix", "target");
  head.prompt_ids = [5, 6];
  head.levels[0].params = { db: "ce", shortest: 1, factor: 1, share: 0.1 };
  const found = draft(0, "0:7 1:8 2:9", 0, 30);
  const tokens = found.tokens.map((token) => ({ ...token, source: "e" }));
  const model = modelOf([head, { ...found, tokens, notes: { lookups: { keys: [2, 2, 2] } } }]);
  const ledger = new Ledger(model);
  ledger.catchUp();
  assert.deepEqual(ledger.order, ["c", "e"]);
  assert.deepEqual(
    ledger.lookups.map(({ letter, key, serials, from }) => [letter, key, serials.length, from]),
    [["e", 2, 3, null]],
  );
});

test("a recording of lookahead tells every n-gram that it offered, under the token that it began with", () => {
  const model = modelOf(recorded("23-lookahead"));
  const ledger = new Ledger(model);
  ledger.catchUp();
  assert.deepEqual([ledger.order, ledger.columns, ledger.n, ledger.kept], [["w"], 7, 5, 7]);
  let told = 0;
  for (const one of ledger.lookups.filter((x) => x.letter === "w" && x.serials.length === 4)) {
    const key = ledger.keyOf(one).at(-1);
    const ids = one.serials.map((serial) => model.tokens.get(serial)?.id);
    const kept = keptBehind(givenAt(ledger, one.t0).filed, /** @type {number} */ (key), ledger.kept);
    assert.ok(
      kept.some((ngram) => ngram.slice(1).join() === ids.join()),
      `round ${one.round}: ${key} ${ids}`,
    );
    told += 1;
  }
  assert.ok(told > 50);
});
