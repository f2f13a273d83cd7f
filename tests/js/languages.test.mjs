// Claims about the other languages: what each lacks, room by room, and that what it has fits. Run: node --test tests/js

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const TEXT = new URL("../../assets/text/", import.meta.url);
const CLAIMED = ["de", "pt"]; // whole in these rooms
const WHOLE = [
  ...["story", "text", "tower", "run", "caption", "card", "legend", "page", "panels", "picture", "player"],
  ...["presenter", "lanes", "charts", "forecast", "proof", "recordings", "help", "share", "default-stack"],
  ...["race", "learn", "pictures", "class", "workshop", "offline", "glossary", "anatomy"],
];
const UNTRANSLATED =
  /^(?:CHART\.ms|HOPS\.ms|CARD\.states\.future)$|^GLOSSARY\..*\.(?:picture|forms|see\.0)|^LOCK_STEP\.[agd]\.text$|^RATIOS\.reported|^LOST\.why$|^OVER_TOKENS\.\w+\.(?:value|step)$/; // no words for a reader
const listed = (/** @type {string} */ folder) =>
  readdirSync(new URL(folder, TEXT)).filter((name) => name.endsWith(".js"));
const rooms = listed("en/").map((name) => name.slice(0, -3));
const SYSTEMS = new URL("../../assets/js/systems/", import.meta.url);
const spoken = readdirSync(SYSTEMS).filter((name) => existsSync(new URL(`${name}/words.js`, SYSTEMS)));
const languages = readdirSync(TEXT, { withFileTypes: true })
  .filter((one) => one.isDirectory() && one.name !== "en")
  .map((one) => one.name);

/** The places of a room's texts that another has not. @param {any} own @param {any} other @param {string} at @returns {string[]} */
function missing(own, other, at = "") {
  if (UNTRANSLATED.test(at)) return [];
  if (typeof own !== "object" || own === null) return typeof other === typeof own ? [] : [at];
  return Object.entries(own).flatMap(([name, part]) => missing(part, other?.[name], at ? `${at}.${name}` : name));
}

/** @param {string} language @param {string} room @returns {Promise<string[]>} */
async function lacks(language, room) {
  const english = await import(new URL(`en/${room}.js`, TEXT).href);
  const file = new URL(`${language}/${room}.js`, TEXT);
  return missing(english, existsSync(file) ? (await import(file.href)).WORDS : {});
}

test("what each language lacks, by room", async (t) => {
  for (const language of languages) {
    const counts = await Promise.all(rooms.map(async (room) => [room, (await lacks(language, room)).length]));
    const open = counts.filter(([, count]) => count).map(([room, count]) => `${room} ${count}`);
    t.diagnostic(`${language}: ${open.length ? `keys missing: ${open.join(", ")}` : "whole"}`);
  }
});

for (const language of CLAIMED)
  test(`${language}: opening, Explore, Race, lessons and class are whole`, async () => {
    const open = await Promise.all(
      WHOLE.map(async (room) => (await lacks(language, room)).map((at) => `${room}: ${at}`)),
    );
    assert.deepEqual(open.flat(), []);
  });

/** What a language says of a system. @param {string} language @param {string} system @returns {Promise<any>} */
async function ofSystem(language, system) {
  const file = new URL(`${system}/words.${language}.js`, SYSTEMS);
  return existsSync(file) ? (await import(file.href)).WORDS : {};
}

for (const language of languages)
  test(`${language}: systems have no text that English has not; a whole language has them all`, async () => {
    for (const system of spoken) {
      const english = await import(new URL(`${system}/words.js`, SYSTEMS).href);
      const other = await ofSystem(language, system);
      assert.deepEqual(missing(other, english), [], system);
      if (CLAIMED.includes(language)) assert.deepEqual(missing(english, other), [], system);
    }
  });

test("a system's texts are put in the place of the English ones", () => {
  for (const system of spoken) {
    const seen = `
      globalThis.hxText = { language: "xx", rooms: { "systems/${system}": new Proxy({}, { ownKeys: () => process.exit(3) }) } };
      await import("${SYSTEMS.href}${system}/words.js");`;
    const { status } = spawnSync(process.execPath, ["--input-type=module", "-e", seen]);
    assert.equal(status, 3, `${system}/words.js does not ask for its translation`);
  }
});

test("a language has no room and no text that English has not", async () => {
  for (const language of languages)
    for (const name of listed(`${language}/`)) {
      const english = await import(new URL(`en/${name}`, TEXT).href);
      const { WORDS } = await import(new URL(`${language}/${name}`, TEXT).href);
      assert.deepEqual(missing(WORDS, english), [], `${language}/${name}`);
    }
});

test("parts that change have the same names in what the server says", () => {
  for (const language of languages) {
    const file = new URL(`${language}/server.json`, TEXT);
    const said = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
    for (const [english, other] of Object.entries(said)) {
      const named = (/** @type {string} */ text) => [...new Set(text.match(/\{\w+\}/g))].sort();
      assert.deepEqual(named(String(other)), named(english), `${language}: ${english}`);
    }
  }
});

test("labels of controls are said in the language, keys that are spelled alike are not", () => {
  const seen = `
    globalThis.hxText = { language: "xx", rooms: { server: { "label: store": "S", "label: head": "H", tip: "T" } } };
    const { translated } = await import("${TEXT.href}heard.js");
    console.log(JSON.stringify(translated({ keys: ["store", "head"], label: "head", tip: "tip", usual: "store" })));`;
  const ran = execFileSync(process.execPath, ["--input-type=module", "-e", seen], { encoding: "utf8" });
  assert.deepEqual(JSON.parse(ran), { keys: ["store", "head"], label: "H", tip: "T", usual: "store" });
});

test("a page in a language has its texts in the place of the English ones, and its decimal sign", () => {
  for (const language of languages) {
    const seen = `
      const rooms = ${JSON.stringify(rooms)};
      globalThis.hxText = { language: "${language}", rooms: {} };
      for (const name of ${JSON.stringify(listed(`${language}/`))})
        hxText.rooms[name.slice(0, -3)] = (await import("${TEXT.href}${language}/" + name)).WORDS;
      for (const room of rooms) await import("${TEXT.href}en/" + room + ".js");
      const { STORY } = await import("${TEXT.href}en/story.js");
      const { ratio } = await import("${TEXT.href}numbers.js");
      console.log(JSON.stringify([STORY.link, hxText.rooms.story.STORY.link, ratio(1.5)]));`;
    const ran = execFileSync(process.execPath, ["--input-type=module", "-e", seen], { encoding: "utf8" });
    const [shown, own, figure] = JSON.parse(ran);
    assert.equal(shown, own);
    assert.equal(figure, "1,50");
  }
});
