// Claims about the page's texts, in the words of each part. Run: node --test tests/js

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { literals } from "./literals.mjs";

const SCRIPTS = new URL("../../assets/", import.meta.url);
const ALL = readdirSync(SCRIPTS, { recursive: true, encoding: "utf8" })
  .filter((name) => /^(?:js|text)\/.*\.js$/.test(name))
  .sort();
const isWords = (/** @type {string} */ name) => /^text\/|\/assets\/text\/|\/words\.js$/.test(name);
const read = (/** @type {string} */ name) => readFileSync(new URL(name, SCRIPTS), "utf8");

test("no text has a line that looks like a comment: the bundler leaves those out", () => {
  const looks = (/** @type {string} */ name) =>
    literals(read(name)).filter(({ text }) => /\n[ \t]*(?:\/\/|\/\*)/.test(text));
  for (const name of ALL) assert.deepEqual(looks(name), [], name);
});

test("words need no page: they import one another alone", () => {
  for (const name of ALL.filter(isWords)) {
    const source = read(name);
    const imports = [...source.matchAll(/^import .* from "(.*)";$/gm)].map((found) => found[1]);
    assert.deepEqual(
      imports.filter((path) => !isWords(new URL(path, new URL(name, SCRIPTS)).href)),
      [],
      name,
    );
    assert.doesNotMatch(source, /\b(?:document|window|globalThis)\s*[.[]/, name);
  }
});
