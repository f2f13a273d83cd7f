/** Targets that an operator names: a stack over one of them is that preset's own, and the catalogue follows the server. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { missing, overOther, parse } from "../../../assets/js/shared/levels/stack.js";
import { keepCatalogue } from "../../../assets/js/shared/visit/offered.js";
import "./build.mjs";

test("a stack over an offered target is that preset's, without the name", () => {
  const names = ["smollm2", "Qwen/Qwen3-8B", "tiny"];
  assert.deepEqual(overOther("ngram:3,exit:2@at=1@id=lens,target@id=Qwen/Qwen3-8B", names), {
    preset: "Qwen/Qwen3-8B",
    stack: "ngram:3,exit:2@at=1@id=lens,target",
  });
  assert.deepEqual(overOther("target@dtype=int8@id=tiny.gguf", names), { preset: "tiny", stack: "target@dtype=int8" });
  for (const text of ["target", "ngram:3,target@id=other", "model:3@id=tiny,target", "not a stack"])
    assert.equal(overOther(text, names), null);
});

test("a target that is not offered is what speaks against the stack", () => {
  const known = { usable: true, can_draft: true };
  const [last] = parse("target@id=other") ?? [];
  assert.match(missing(last, known, false), /does not offer the target other/);
  const [plain] = parse("target") ?? [];
  assert.equal(missing(plain, known, false), "");
});

test("the catalogue follows the server until it knows all, where an operator named targets", async () => {
  const first = [{ name: "big", target: true, needs_download: true, reason: "16 GB" }];
  const news = [];
  const setup = { catalogue: [...first] };
  const kept = setup.catalogue;
  let asked = 0;
  const offered = async () => {
    asked += 1;
    return { catalogue: [{ ...first[0], reason: "gated" }], settled: true };
  };
  const call = /** @type {any} */ ({ offered });
  const catalogue = keepCatalogue({ setup, call, onNews: () => news.push(setup.catalogue[0].reason) });
  catalogue.begin();
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.deepEqual(news, ["gated"]);
  assert.equal(setup.catalogue, kept, "others hold the same list");
  catalogue.ran(setup.catalogue[0]);
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.deepEqual([asked, news.length], [2, 1], "what is the same is no news");
  const without = { catalogue: [{ name: "smollm2", needs_download: true }] };
  const none = keepCatalogue({ setup: without, call, onNews: () => assert.fail() });
  none.begin();
  none.ran(without.catalogue[0]);
  assert.equal(asked, 2, "a server without targets is not asked");
});
