// Claims about the systems' folders of scripts: the page loads whole without them, and each brings what it draws. Run: node --test tests/js

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { brought } from "../../assets/js/systems/index.js";

const SCRIPTS = new URL("../../assets/js/", import.meta.url);
const ALL = readdirSync(SCRIPTS, { recursive: true, encoding: "utf8" })
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => name.endsWith(".js"));
const BEGINS = ["offline/main.js", "site/loader.js", "site/site-page.js"]; // at once, in a page
const OF_A_SYSTEM = /^systems\/\w+\//;
const names = () => Object.values(brought).flatMap((list) => list.map((/** @type {any} */ one) => one.name ?? one.tab));

Object.assign(globalThis, { document: { addEventListener() {} }, location: { search: "" } });

test("without any system every script loads, and nothing of theirs is there", async () => {
  for (const name of ALL)
    if (!OF_A_SYSTEM.test(name) && !BEGINS.includes(name)) await import(new URL(name, SCRIPTS).href);
  assert.deepEqual(names(), []);
});

test("what systems bring has names of its own", async () => {
  for (const name of ALL) if (OF_A_SYSTEM.test(name)) await import(new URL(name, SCRIPTS).href);
  for (const { tab, load } of brought.later) assert.ok(tab && (await load()));
  for (const list of [brought.desks, brought.pictures, brought.studies, brought.cards, brought.rounds, brought.lanes]) {
    assert.ok(list.length);
    assert.equal(new Set(list.map((one) => one.name)).size, list.length);
  }
});
