// Claims about the rooms of the page's scripts: imports go down only, types included. Run: node --test tests/js

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { test } from "node:test";

const SCRIPTS = new URL("../../assets/js/", import.meta.url);
// From the ground up: a room may import those before it.
const ROOMS = [
  ...["words", "words/play", "words/desk", "words/tabs"],
  ...["kit", "kit/picture", "levels", "glossary", "run", "visit", "player"],
  ...["text/token", "text", "text/card", "caption", "lanes", "tower/floor", "tower/forecast", "tower"],
  ...["anatomy", "story", "proof", "databases", "plots", "share", "stage/controls", "stage/title", "stage"],
  ...[
    "race/replay",
    "race",
    "planner/another",
    "planner/second",
    "planner/ahead",
    "planner/profile",
    "planner/doctor",
    "planner/lengths",
    "planner",
  ],
  ...["learn/sums", "learn/figures", "learn/acts", "learn/pictures", "learn/class", "learn"],
  ...["results/exits", "results/scaling", "results", "atlas/sublayers", "atlas", "offline", "site", "workshop"],
];
const TABS = ["race", "planner", "learn", "results", "atlas"];
const MOST = 12; // files in a folder

const ALL = readdirSync(SCRIPTS, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.(?:js|ts)$/.test(name))
  .sort();

/** What a script imports, now or later, its values or its types alone. */
const NEEDED = new Map(ALL.map((name) => [name, imported(name, readFileSync(new URL(name, SCRIPTS), "utf8"))]));

/** @param {string} name @param {string} source */
function imported(name, source) {
  const found = [...source.matchAll(/(?:\bfrom |\bimport |\bimport\()"(\.[^"]+)"/g)].map(([, path]) => {
    const other = posix.join(posix.dirname(name), path);
    return ALL.includes(other) ? other : other.replace(/\.js$/, ".d.ts");
  });
  return [...new Set(found)];
}

test("imports of every kind are seen", () => {
  const source = 'import { a } from "./a.js";\nimport "../b.js";\n/** @type {import("./c.js").C} */\nimport("./d.js")';
  assert.deepEqual(imported("x/y.js", source), ["x/a.d.ts", "b.d.ts", "x/c.d.ts", "x/d.d.ts"]);
  for (const [name, needed] of NEEDED) for (const other of needed) assert.ok(ALL.includes(other), `${name}: ${other}`);
});

test("nothing stands loose beside the rooms, and no room holds more than a dozen files", () => {
  const sizes = new Map(ROOMS.map((room) => [room, 0]));
  for (const name of ALL) {
    const room = posix.dirname(name);
    assert.ok(sizes.has(room), `${name} is in no room`);
    sizes.set(room, (sizes.get(room) ?? 0) + 1);
  }
  for (const [room, size] of sizes) assert.ok(size > 0 && size <= MOST, `${room} holds ${size} files`);
});

test("a room imports those below it only", () => {
  const height = (/** @type {string} */ name) => ROOMS.indexOf(posix.dirname(name));
  const up = [...NEEDED].flatMap(([name, needed]) =>
    needed.filter((other) => height(other) > height(name)).map((other) => `${name} imports ${other}`),
  );
  assert.deepEqual(up, []);
});

test("no tab imports another", () => {
  const tab = (/** @type {string} */ name) => TABS.find((one) => name.startsWith(`${one}/`));
  const across = [...NEEDED].flatMap(([name, needed]) =>
    tab(name) ? needed.filter((other) => tab(other) && tab(other) !== tab(name)).map((other) => [name, other]) : [],
  );
  assert.deepEqual(across, []);
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
