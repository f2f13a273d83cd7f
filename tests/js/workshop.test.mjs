// Claims about a class in the page: hearing of the room, what is sent, what it is called, bars. Run: node --test tests/js

import assert from "node:assert/strict";
import { test } from "node:test";
import { rowsOf } from "../../assets/js/workshop/answer-bars.js";
import { answersCsv, warningOf } from "../../assets/js/workshop/instructor.js";
import { askedAt, notedAt, placeName } from "../../assets/js/workshop/known.js";
import { Refusal, Room } from "../../assets/js/workshop/room.js";
import { comeIn } from "../../assets/js/workshop/workshop.js";
import { secretIn } from "../../assets/js/workshop/secret.js";
import { isAnother, sendable } from "../../assets/js/workshop/sendable.js";

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
  const more = "&prompt=Tell&max_new_tokens=64&stack=target";
  assert.equal(sendable(`?tab=learn&lesson=3${more}`), "?tab=learn&lesson=3", "a learner's own settings stay");
  assert.equal(sendable(`?tab=race&compare=a%2Cb${more}`), "?tab=race&compare=a%2Cb");
  assert.equal(sendable(`?tab=race&load=32${more}`), "?tab=race&load=32");
  assert.equal(sendable(`?tab=atlas&system=pearl&here=1${more}`), "?tab=atlas&system=pearl&here=1");
  assert.equal(sendable(`?tab=planner&agrees=0.8`), "?tab=planner&agrees=0.8");
  assert.equal(sendable(""), "?explore=1");
});

test("every address that is sent has a name", () => {
  const recordings = [
    { name: "01-code", title: "Write code" },
    { name: "02-repeat", title: "Say it again" },
  ];
  const classes = [{ id: "45", parts: [{ discuss: ["Why?"], tasks: [{ text: "Try." }] }] }];
  const races = [{ name: "01-levels", title: "A level more" }];
  const systems = [{ name: "pearl", title: "PEARL" }];
  const named = (/** @type {string} */ at) => placeName(at, { recordings, classes, races, systems });
  assert.equal(named("?tab=learn&lesson=3"), "lesson 3, step 1");
  assert.equal(named("?tab=learn&class=45&stop=1"), "a task for the class");
  assert.equal(named("?tab=learn&class=45&stop=2"), "a question for the class");
  assert.equal(named("?recording=01-code&at=6.4"), "the recording \u201cWrite code\u201d, round 6");
  assert.equal(named("?tab=race&race=01-levels"), "the race \u201cA level more\u201d");
  assert.equal(named("?tab=race&race=mine"), "the race \u201cmine\u201d");
  assert.equal(named("?tab=race"), "the races");
  assert.equal(named("?tab=race&load=32"), "32 requests at once");
  assert.equal(
    named("?tab=race&compare=01-code,02-repeat"),
    "\u201cWrite code\u201d and \u201cSay it again\u201d, compared",
  );
  assert.equal(named("?tab=atlas&system=pearl"), "PEARL, in the Atlas");
  assert.equal(named("?tab=atlas&here=1"), "the Atlas");
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
  const whole = [{ from: 3, to: 3, count: 4 }];
  assert.deepEqual(rowsOf({ ...tally, bins: whole }, { number: { unit: "tokens" } }), [["3 tokens", 4]]);
  assert.deepEqual(rowsOf({ ...tally, bins }, { number: { unit: "tokens" } }), [
    ["up to 2 tokens", 1],
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
  const named = [
    { id: "first", steps: [{ question: {} }] },
    { id: "second", steps: [{ question: {} }] },
  ];
  assert.deepEqual(askedAt(named, "?tab=learn&lesson=2"), { lesson: "second", step: 1 }, "one without a number counts");
});

test("the notes of a class stand for what their stop shows to a room, which can be sent", () => {
  const lessons = [{ id: "01-a" }, { id: "07-b" }];
  const part = { lesson: "07-b", steps: [1, 3], open: "tab=race&race=01-levels", tasks: [{ text: "Try." }] };
  const classes = [{ id: "45", parts: [{ discuss: ["Why?"] }, part] }];
  const stops = [1, 2, 3, 4, 5, 6].map((n) => notedAt({ lessons, classes }, `?tab=learn&class=45&notes=1&stop=${n}`));
  const shown = ["class=45&stop=1", "lesson=7", "lesson=7&step=3", "race=01-levels", "class=45&stop=5"];
  assert.deepEqual(stops, [
    ...shown.map((text, i) => `?tab=${i === 3 ? "race" : "learn"}&${text}`),
    null, // there is none
  ]);
  assert.equal(notedAt({ lessons, classes }, "?tab=learn&class=45&notes=1"), stops[0]);
  assert.equal(notedAt({ lessons, classes }, "?tab=learn&class=46&notes=1"), null);
  for (const at of stops.slice(0, 5)) assert.equal(sendable(String(at)), at);
});

test("a window says where it is about something else than all screens", () => {
  assert.ok(isAnother("?tab=learn&lesson=3&step=2", "?tab=learn&lesson=3"));
  assert.ok(!isAnother("?step=2&tab=learn&lesson=3", "?tab=learn&lesson=3&step=2"), "in another order");
  assert.ok(isAnother("?tab=race", "?recording=01-code&at=6.4"));
  assert.ok(!isAnother("?recording=01-code", "?recording=01-code&at=6.4"), "which moment, no address tells");
  assert.ok(!isAnother(null, "?tab=race") && !isAnother("?tab=race", undefined));
});

test("who is slowed down waits with the last code alone: what was typed before is not tried again", async () => {
  const [tried, frame] = [/** @type {any[]} */ ([]), /** @type {any} */ ({ tell() {} })];
  const room = /** @type {any} */ ({
    async enter(/** @type {any} */ { code }) {
      tried.push(code);
      if (tried.length <= 2) throw new Refusal(429, { retry: 0.1 });
    },
  });
  let turn = 1;
  const first = comeIn(room, frame, { code: "WRONG" }, () => turn === 1);
  turn = 2;
  const second = comeIn(room, frame, { code: "RIGHT" }, () => turn === 2);
  assert.deepEqual(await Promise.all([first, second]), [false, true]);
  assert.deepEqual(tried, ["WRONG", "RIGHT", "RIGHT"]);
});

test("the poster warns of an address that only this machine can open", () => {
  assert.match(warningOf("http://127.0.0.1:7860/"), /Only this machine/);
  assert.match(warningOf("http://localhost:7860/?x=1"), /Only this machine/);
  for (const page of ["http://192.168.1.7:7860/", "https://127.example.org/"]) assert.equal(warningOf(page), "");
});

test("answers are a table of what was given and how often, and no cell of it is a formula", () => {
  const step = (/** @type {any} */ question) => ({ title: "By the title", question });
  const lessons = [
    {
      ...{ id: "01-a", title: '=cmd|"calc"!A1' },
      steps: [
        step({ ask: "How many does `T` keep, of [T]?", choices: [{ text: "-1, or fewer" }, { text: "two" }] }),
        step({ ask: "$per_forward?", number: { unit: "tokens" } }),
        step({ ask: "\t@SUM(A1)", number: {} }),
      ],
    },
  ];
  const given = [
    { lesson: "01-a", step: 1, answers: [0, 0, 1] },
    { lesson: "01-a", step: 2, answers: [1.5, 1.5, 20] },
    { lesson: "01-a", step: 3, answers: [7] },
    { lesson: "09-gone", step: 1, answers: [2] },
  ];
  const title = `"'=cmd|""calc""!A1"`;
  assert.deepEqual(answersCsv(given, lessons).split("\r\n"), [
    "lesson,title,step,question,answer,unit,learners",
    `01-a,${title},1,"How many does T keep, of T?","'-1, or fewer",,2`,
    `01-a,${title},1,"How many does T keep, of T?",two,,1`,
    `01-a,${title},2,By the title,1.5,tokens,2`,
    `01-a,${title},2,By the title,20,tokens,1`,
    `01-a,${title},3,'\t@SUM(A1),7,,1`,
    "09-gone,,1,,2,,1",
    "",
  ]);
});
