// Claims about a class in the page: hearing of the room, what is sent, what it is called, bars. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { rowsOf } from "../../assets/js/workshop/answer-bars.js";
import { placeName } from "../../assets/js/workshop/place-name.js";
import { askedAt } from "../../assets/js/workshop/questions.js";
import { Refusal, Room } from "../../assets/js/workshop/room.js";
import { secretIn } from "../../assets/js/workshop/secret.js";
import { sendable } from "../../assets/js/workshop/sendable.js";

const reply = (/** @type {any} */ body, status = 200) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });
const told = (/** @type {string} */ version, more = {}) => ({ version, leads: false, sent: null, ...more });

/** Listens to a server that gives these answers in turn, an error for null; what the room was told, and how it paused. */
async function heard(answers) {
  const [asked, events, pauses] = [
    /** @type {string[]} */ ([]),
    /** @type {string[]} */ ([]),
    /** @type {number[]} */ ([]),
  ];
  /** @type {(value?: unknown) => void} */ let end = () => {};
  const ended = new Promise((resolve) => (end = resolve));
  const room = new Room(
    "/room",
    {
      onTold: (said) => events.push(said.version),
      onOut: () => (events.push("out"), end()),
      onLost: () => events.push("lost"),
    },
    {
      ask: async (url) => {
        asked.push(String(url));
        const next = answers.shift();
        if (next === undefined) return new Promise(() => end());
        if (next === null) throw new TypeError("no network");
        return next;
      },
      pause: async (ms) => void pauses.push(ms),
      seen: async () => {},
    },
  );
  void room.listen();
  await ended;
  return { asked, events, pauses };
}

test("what was heard is not heard again, and the next question names it", async () => {
  const { asked, events } = await heard([reply(told("a.1")), reply(told("a.1")), reply(told("a.2"))]);
  assert.deepEqual(events, ["a.1", "a.2"]);
  assert.deepEqual(asked.slice(0, 4), [
    "/room/now?seen=",
    "/room/now?seen=a.1",
    "/room/now?seen=a.1",
    "/room/now?seen=a.2",
  ]);
});

test("a server that does not answer is asked again, later each time, and what it says then is shown again", async () => {
  const { events, pauses } = await heard([reply(told("a.1")), null, null, null, reply(told("a.1"))]);
  assert.deepEqual(events, ["a.1", "lost", "lost", "lost", "a.1"]);
  assert.ok(pauses[0] >= 750 && pauses[2] > pauses[0] && pauses[2] <= 1.25 * 15_000, String(pauses));
});

test("who waits as the server asks it to does not come back sooner; who is out is told so", async () => {
  const { events, pauses } = await heard([reply({ error: "busy", retry: 9 }, 429), reply({ error: "out" }, 403)]);
  assert.deepEqual(events, ["lost", "out"]);
  assert.ok(pauses[0] >= 0.75 * 9000);
});

test("a refusal says what the server said, also where that is no JSON", async () => {
  const room = new Room(
    "/room",
    { onTold() {}, onOut() {}, onLost() {} },
    { ask: async () => new Response("too large\n", { status: 413 }) },
  );
  await assert.rejects(
    room.say("send", {}),
    (error) => error instanceof Refusal && error.status === 413 && error.message === "too large",
  );
});

test("the key and the code leave the address, what else it holds stays", () => {
  const at = (/** @type {string} */ search, hash = "") => secretIn({ pathname: "/p/", search, hash });
  assert.deepEqual(at("", "#workshop=k-_1"), { secret: { key: "k-_1" }, rest: "/p/" });
  assert.deepEqual(at("?tab=race&workshop=k"), { secret: { key: "k" }, rest: "/p/?tab=race" });
  assert.deepEqual(at("?room=ABCDE&tab=race", "#run=1.x"), { secret: { code: "ABCDE" }, rest: "/p/?tab=race#run=1.x" });
  assert.equal(at("?tab=race").secret, null);
});

test("what belongs to one screen is not sent", () => {
  assert.equal(sendable("?tab=learn&lesson=3&step=2&present=1&__theme=dark"), "?tab=learn&lesson=3&step=2");
  assert.equal(sendable("?tab=learn&class=45&stop=4&lesson=3&step=2"), "?tab=learn&lesson=3&step=2");
  assert.equal(sendable("?tab=learn&class=45&stop=7"), "?tab=learn&class=45&stop=7", "a card of the class");
  assert.equal(sendable("?tab=race&race=01-levels&class=45&stop=5&lesson=3"), "?tab=race&race=01-levels");
  assert.equal(sendable("?tab=learn&class=45&notes=1"), null);
  assert.equal(sendable("?tab=learn&class=45"), null, "a plan has the answers");
  assert.equal(sendable(""), "?explore=1");
});

test("every address that is sent has a name", () => {
  const named = (/** @type {string} */ at) => placeName(at, { recordings: [{ name: "01-code", title: "Write code" }] });
  assert.equal(named("?tab=learn&lesson=3"), "lesson 3, step 1");
  assert.equal(named("?tab=learn&class=45&stop=7"), "a task for the class");
  assert.equal(named("?recording=01-code&at=6.4"), "the recording \u201cWrite code\u201d, round 6");
  assert.equal(named("?tab=race&race=01-levels"), "the race \u201c01-levels\u201d");
  assert.equal(named("?tab=race&compare=a,b"), "two recordings, compared");
  assert.equal(named("?tab=planner&agrees=0.8"), "the tab Planner");
  assert.equal(named("?explore=1#run=1.x"), "a run of the instructor");
  assert.equal(named("?explore=1"), "Explore");
});

test("bars have the choices' words or the figures' bounds, each with its share", () => {
  const question = { choices: [{ text: "Those of [T], `once`" }, { text: "All" }] };
  const tally = { lesson: "01-a", step: 2, total: 4 };
  assert.deepEqual(rowsOf({ ...tally, counts: [1, 3] }, question), [
    ["Those of T, once", 1],
    ["All", 3],
  ]);
  assert.deepEqual(rowsOf({ ...tally, counts: [4] }, null), [["choice 1", 4]]);
  const bins = [
    { from: null, to: 2, count: 1 },
    { from: 2, to: 2.5, count: 2 },
    { from: 2.5, to: null, count: 1 },
  ];
  assert.deepEqual(rowsOf({ ...tally, bins }, { number: { unit: "tokens" } }), [
    ["below 2 tokens", 1],
    ["2 to 2.5 tokens", 2],
    ["2.5 tokens or more", 1],
  ]);
});

test("the question of a step is found by the lesson's number", () => {
  const all = [
    { id: "01-a", steps: [{}, { question: {} }] },
    { id: "12-b", steps: [{ question: {} }] },
  ];
  assert.deepEqual(askedAt(all, "?tab=learn&lesson=1&step=2"), { lesson: "01-a", step: 2 });
  assert.deepEqual(askedAt(all, "?tab=learn&lesson=12"), { lesson: "12-b", step: 1 });
  assert.equal(askedAt(all, "?tab=learn&lesson=1"), null);
  assert.equal(askedAt(all, "?lesson=12"), null);
});
