// Claims about the glossary: two sentences a word, found in texts once. Run: node --test tests/js

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { findTerms } from "../../assets/js/shared/glossary/term.js";
import { GLOSSARY } from "../../assets/text/en/glossary.js";

const ROOT = new URL("../../", import.meta.url);

test("every entry is two sentences, of a length that is read at once, and one picture", () => {
  for (const [name, { word, says, picture }] of Object.entries(GLOSSARY)) {
    for (const sentence of says) assert.match(sentence, /^[A-Zpq\u201c][^.]*[^. ]\.$/u, `${name}: one sentence`);
    const words = says.join(" ").split(" ").length;
    assert.ok(words <= 48, `${word}: ${words} words`);
    const drawn = Object.keys(picture).filter((key) => !["other", "lit"].includes(key));
    assert.equal(drawn.length, 1, word);
  }
});

test("no form stands for two entries", () => {
  const forms = Object.values(GLOSSARY).flatMap(({ word, forms = [] }) => [word, ...forms]);
  assert.deepEqual(forms, [...new Set(forms)]);
});

test("a text has each word marked at its first place, the longest form wins, and parts of words are left alone", () => {
  const marked = (/** @type {string} */ text, /** @type {Set<string>} */ seen = new Set()) =>
    findTerms(text, seen).flatMap(({ text: own, entry }) => (entry ? [`${own}: ${entry}`] : []));
  assert.deepEqual(marked("A bonus token. Another bonus."), ["bonus token: bonus"]);
  assert.deepEqual(marked("Accepted drafts, rejected drafts"), [
    "Accepted: accept",
    "drafts: draft",
    "rejected: reject",
  ]);
  assert.deepEqual(marked("A KV cache at every level", new Set(["level"])), ["KV cache: cache"]);
  assert.deepEqual(marked("surround, passing, overpass, non-target"), []);
  const whole = "The target verifies a draft.";
  assert.equal(
    findTerms(whole)
      .map(({ text }) => text)
      .join(""),
    whole,
  );
});

test("a recording that an entry leads to is one that is shipped", () => {
  const shipped = readdirSync(new URL("assets/traces/", ROOT)).map((name) => name.split(".")[0]);
  for (const { see } of Object.values(GLOSSARY))
    if (see) assert.ok(shipped.includes(new URLSearchParams(see[0]).get("recording") ?? ""), see[0]);
});
