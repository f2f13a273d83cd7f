// Claims about the Planner's part of the address. Run: node --test tests/js

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import {
  askedOfAnother,
  linked,
  linkedPlan,
  openedBy,
  planText,
  still,
  turnedBy,
  writeLink,
  usual,
} from "../../assets/js/tabs/planner/link.js";

const LIMITS = { max_block: [1, 64], rejections: [0, 3], cost: [0.1, 10] };
const profile = (more = {}) => ({
  levels: ["ngram", "int4", "target"].map((name) => ({ name })),
  max_block: 16,
  temperature: 0,
  ...more,
});
const OWN = { agreement: null, share: null };
const SOURCES = [
  { id: "broken", profiles: [] },
  { id: "here", profiles: [profile()] },
  { id: "there", profiles: [profile(), profile({ temperature: 0.7 })] },
];

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  visit("");
});

function visit(search) {
  globalThis.location = { search, pathname: "/", hash: "" };
  globalThis.history = { state: null, replaceState: (_, __, url) => (location.search = url.slice(1)) };
}

/** What the address says once the sliders are at rest. */
function written(source, shown, turned, asked = OWN) {
  writeLink(SOURCES, source, shown, turned, asked);
  mock.timers.tick(300);
  return location.search;
}

test("where the address names no profile, one of its model is shown, else the first; and links say so", () => {
  const there = [
    { ...SOURCES[1], preset: "one" },
    { ...SOURCES[2], preset: "two" },
  ];
  for (const [search, want] of [
    ["", "here"],
    ["?preset=two", "there"],
    ["?preset=three", "here"],
  ]) {
    visit(search);
    assert.equal(usual(there).id, want);
  }
  assert.equal(usual([]), undefined);
  visit("?preset=two");
  writeLink(there, there[1], profile(), still(profile()), OWN);
  mock.timers.tick(300);
  assert.equal(location.search, "?preset=two", "the one that is shown anyway is not named");
  writeLink(there, there[0], profile(), still(profile()), OWN);
  mock.timers.tick(300);
  assert.match(location.search, /profile=here/);
});

test("an address names a profile and its temperature; one that is not there, or is broken, is none", () => {
  for (const [search, want] of [
    ["?profile=there&heat=0.7", ["there", 1]],
    ["?profile=there", ["there", 0]],
    ["?profile=there&heat=9", ["there", 0]],
  ]) {
    visit(search);
    const [source, at] = linked(SOURCES);
    assert.deepEqual([source.id, at], want);
  }
  for (const search of ["", "?profile=nowhere", "?profile=broken"]) {
    visit(search);
    assert.equal(linked(SOURCES), null);
  }
});

test("what stands at rest is not in the address", () => {
  assert.equal(written(SOURCES[1], SOURCES[1].profiles[0], still(profile())), "");
});

test("sliders that are written are read back", () => {
  const [source, shown] = [SOURCES[2], profile({ temperature: 0.7 })];
  const turned = {
    ...still(shown),
    max_block: 8,
    rejections: 1.5,
    cost: { level: "int4", factor: 2 },
    levels: [false, true, true],
  };
  assert.equal(written(source, shown, turned), "?profile=there&heat=0.7&longest=8&rejections=1.5&cost=1x2&without=0");
  assert.deepEqual(turnedBy(shown, LIMITS), turned);
});

test("the two sliders of the question are read back, and their rest is not in the address", () => {
  const asked = { agreement: 0.82, share: 0.4 };
  const [source] = [SOURCES[1]];
  assert.equal(written(source, source.profiles[0], still(profile()), asked), "?agrees=0.82&pass=0.4");
  assert.deepEqual(askedOfAnother(), asked);
  for (const search of ["?agrees=2&pass=-1", "?agrees=often", ""]) {
    visit(search);
    assert.deepEqual(askedOfAnother(), { agreement: null, share: null });
  }
});

test("an address opens what it names, and the sliders that it sets", () => {
  for (const [search, open] of [
    ["?tab=planner", []],
    ["?data=tables,plans", ["tables", "plans"]],
    ["?rejections=1.5", ["whatif"]],
  ]) {
    visit(/** @type {string} */ (search));
    assert.deepEqual([...openedBy()], open);
  }
});

test("settings that are out of range, of no level or of no meaning stay at rest", () => {
  for (const search of [
    "?longest=65",
    "?longest=2.5",
    "?rejections=-1",
    "?rejections=x",
    "?cost=7x2",
    "?cost=1x99",
    "?cost=x",
    "?without=2",
    "?without=9.x",
    "?acceptance=marked",
  ]) {
    visit(search);
    assert.deepEqual(turnedBy(profile(), LIMITS), still(profile()), search);
  }
});

test("a profile from a file has no address", () => {
  const turned = { ...still(profile()), max_block: 8 };
  assert.equal(written({ id: "file:x", profiles: [profile()] }, profile(), turned), "");
});

test("of many changes in a row the last one is written", () => {
  const turned = still(profile());
  for (const max_block of [2, 3, 4]) writeLink(SOURCES, SOURCES[1], profile(), { ...turned, max_block }, OWN);
  mock.timers.tick(300);
  assert.equal(location.search, "?longest=4");
});

test("a plan is written by the levels' numbers and read back; one of other levels is none", () => {
  const plan = { levels: ["ngram", "int4", "target"], blocks: [3, 6] };
  assert.equal(planText(profile(), plan), "0:3.1:6.2");
  assert.deepEqual(linkedPlan(profile(), "0:3.1:6.2"), plan);
  assert.equal(linkedPlan(profile(), "0:3.7"), null);
  for (const text of ["", "0:3.", "0:x.2", "0:1:2"]) assert.equal(linkedPlan(profile(), text), null, text);
});
