// Claims about the systems' folders of scripts: the page loads whole without them, and each brings what it draws. Run: node --test tests/js

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { literals } from "./literals.mjs";
import { brought } from "../../assets/js/systems/index.js";

const SCRIPTS = new URL("../../assets/js/", import.meta.url);
const ALL = readdirSync(SCRIPTS, { recursive: true, encoding: "utf8" })
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => name.endsWith(".js"));
const BEGINS = ["offline/main.js", "site/loader.js", "site/site-page.js"]; // at once, in a page
const OF_A_SYSTEM = /^systems\/\w+\//;
const names = () => Object.values(brought).flatMap((list) => list.map((/** @type {any} */ one) => one.name ?? one.tab));

const document = { addEventListener() {}, querySelector: () => ({}) }; // of which every style sheet is there
Object.assign(globalThis, { document, location: { search: "" } });

test("without any system every script loads, and nothing of theirs is there", async () => {
  for (const name of ALL)
    if (!OF_A_SYSTEM.test(name) && !BEGINS.includes(name)) await import(new URL(name, SCRIPTS).href);
  assert.deepEqual(names(), []);
});

test("what systems bring has names of its own", async () => {
  for (const name of ALL) if (OF_A_SYSTEM.test(name)) await import(new URL(name, SCRIPTS).href);
  for (const { tab, load } of brought.later) assert.ok(tab && (await load()));
  const { later, ...lists } = brought;
  assert.ok(later.length);
  for (const list of Object.values(lists)) {
    assert.ok(list.length);
    assert.equal(new Set(list.map((/** @type {any} */ one) => one.name ?? one)).size, list.length);
  }
});

test("no script but a system's own names a kind of level", () => {
  // the target stands in each stack; a table is an element too
  const kinds = JSON.parse(process.env.HSD_GRAMMAR ?? '{"kinds": []}').kinds.map((/** @type {any} */ one) => one.name);
  const named = new Set(kinds.filter((/** @type {string} */ name) => !["target", "table"].includes(name)));
  const found = ALL.filter((name) => !OF_A_SYSTEM.test(name)).flatMap((name) =>
    literals(readFileSync(new URL(name, SCRIPTS), "utf8"))
      .filter(({ text }) => named.has(text) || [...named].some((kind) => text.includes(`--hue-${kind}`)))
      .map(({ text, line }) => `${name}:${line} ${text}`),
  );
  assert.deepEqual(found, []);
});
