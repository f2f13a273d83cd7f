// Claims about the rooms of the page's scripts: imports go down only, types included. Run: node --test tests/js

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { test } from "node:test";

const SCRIPTS = new URL("../../assets/js/", import.meta.url);
// From the ground up: a room may import those before it.
const ROOMS = [
  ...["kit", "kit/picture", "levels", "glossary", "run", "visit", "player"].map((room) => `shared/${room}`),
  "systems",
  ...["text/token", "text", "text/card", "caption", "lanes", "anatomy", "plots", "share"].map(
    (room) => `shared/${room}`,
  ),
  ...["charts", "tower/floor", "tower/forecast", "tower", "story", "proof", "controls", "title"].map(
    (part) => `tabs/explore/${part}`,
  ),
  ...["tabs/explore", "tabs/race/replay", "tabs/race"],
  ...["profile", "another", "ahead", "doctor"].map((part) => `tabs/planner/${part}`),
  "tabs/planner",
  ...["figures", "acts", "pictures", "class"].map((part) => `tabs/learn/${part}`),
  ...["tabs/learn", "tabs/results", "tabs/atlas", "offline", "site", "workshop"],
];
const SYSTEM = /^systems\/(\w+)\//; // a folder of a system: it may import all rooms, and no room imports it
const TAB = /^tabs\/(\w+)\//;

const ALL = readdirSync(SCRIPTS, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.(?:js|ts)$/.test(name))
  .sort();

/** What a script imports, now or later, its values or its types alone. */
const NEEDED = new Map(ALL.map((name) => [name, imported(name, readFileSync(new URL(name, SCRIPTS), "utf8"))]));

/** @param {string} name @param {string} source */
function imported(name, source) {
  const found = [...source.matchAll(/(?:\bfrom |\bimport |\bimport\()"(\.[^"]+)"/g)]
    .map(([, path]) => posix.join(posix.dirname(name), path))
    .filter((other) => !other.startsWith("../text/")) // texts import one another alone: words.test.mjs
    .map((other) => (ALL.includes(other) ? other : other.replace(/\.js$/, ".d.ts")));
  return [...new Set(found)];
}

test("imports of every kind are seen", () => {
  const source = 'import { a } from "./a.js";\nimport "../b.js";\n/** @type {import("./c.js").C} */\nimport("./d.js")';
  assert.deepEqual(imported("x/y.js", source), ["x/a.d.ts", "b.d.ts", "x/c.d.ts", "x/d.d.ts"]);
  for (const [name, needed] of NEEDED) for (const other of needed) assert.ok(ALL.includes(other), `${name}: ${other}`);
});

test("nothing stands loose beside the rooms, and none is empty", () => {
  const used = new Set(ALL.filter((name) => !SYSTEM.test(name)).map(posix.dirname));
  assert.deepEqual([...used].sort(), [...ROOMS].sort());
});

test("a room imports those below it only", () => {
  const height = (/** @type {string} */ name) =>
    SYSTEM.test(name) ? ROOMS.length : ROOMS.indexOf(posix.dirname(name));
  const up = [...NEEDED].flatMap(([name, needed]) =>
    needed.filter((other) => height(other) > height(name)).map((other) => `${name} imports ${other}`),
  );
  assert.deepEqual(up, []);
});

test("no tab imports another", () => {
  const tab = (/** @type {string} */ name) => TAB.exec(name)?.[1];
  const across = [...NEEDED].flatMap(([name, needed]) =>
    tab(name) ? needed.filter((other) => tab(other) && tab(other) !== tab(name)).map((other) => [name, other]) : [],
  );
  assert.deepEqual(across, []);
});

test("nobody imports a system but itself, and each has the script that the page looks for", () => {
  const system = (/** @type {string} */ name) => SYSTEM.exec(name)?.[1];
  const wrong = [...NEEDED].flatMap(([name, needed]) =>
    needed
      .filter((other) => system(other) && system(other) !== system(name))
      .map((other) => `${name} imports ${other}`),
  );
  assert.deepEqual(wrong, []);
  for (const name of new Set(ALL.map(system).filter(Boolean)))
    assert.ok(ALL.includes(`systems/${name}/${name}.js`), name);
});

test("no script leads back to itself", () => {
  const done = new Set();
  /** @param {string} name @param {string[]} way */
  const follow = (name, way) => {
    assert.ok(!way.includes(name), [...way.slice(way.indexOf(name)), name].join(" -> "));
    if (done.has(name)) return;
    for (const other of NEEDED.get(name) ?? []) follow(other, [...way, name]);
    done.add(name);
  };
  for (const name of ALL) follow(name, []);
});
