// Claims about a visitor's dealings with the server, with a clock that the test moves. Run: node --test tests/js

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { Session } from "../../assets/js/shared/visit/session.js";

let now = 0;
const shown = () => {};
globalThis.document = { hidden: false, addEventListener: (_, f) => (shown.again = f) };
globalThis.addEventListener = (what, f) => (shown[what] = f);
mock.method(performance, "now", () => now);

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setInterval"] });
  now = 0;
});

function session({ stop = async () => {}, tail = async ({ run }) => payload(run), ...call } = {}) {
  const [asked, heard] = [[], []];
  const record = (name, f) => async (data) => (asked.push([name, data]), f(data));
  const calls = Object.fromEntries(Object.entries({ stop, tail, ...call }).map(([name, f]) => [name, record(name, f)]));
  const trigger = (name, data) => asked.push([name, data]);
  return {
    it: new Session(
      { trigger, call: calls },
      { onPayload: (p) => heard.push(p), held: () => 7, unreached: () => asked.push(["unreached"]) },
    ),
    asked,
    heard,
  };
}

const payload = (run, ev = [], final = false) => ({ run, from: 0, ev, final, status: { mode: "live" } });
const settled = () => new Promise((resolve) => setImmediate(resolve));

async function after(ms) {
  for (let passed = 0; passed < ms; passed += 1000) {
    now += 1000;
    mock.timers.tick(1000);
  }
  await settled();
}

test("a run is asked for under a name that no other run has", () => {
  const { it, asked } = session();
  it.start({ prompt: "a" });
  it.start({ prompt: "a" });
  const [[what, first], [, second]] = asked;
  assert.equal(what, "generate");
  assert.match(first.run, /^[0-9a-f]{32}$/);
  assert.notEqual(first.run, second.run);
  assert.deepEqual([it.state, it.pending], ["busy", second.run]);
});

test("whether weights are on their way is known until something else is said, and of no other run", () => {
  const { it } = session();
  it.start({});
  assert.equal(it.fetching, false);
  it.hear({ ...payload(it.pending), status: { mode: "loading", stage: "download", share: 0.5 } });
  assert.equal(it.fetching, true);
  it.start({});
  assert.equal(it.fetching, false);
  it.hear({ ...payload(it.pending), status: { mode: "loading", stage: "download", share: 0.5 } });
  it.hear({ ...payload(it.pending), status: { mode: "loading", stage: "load", share: null } });
  assert.equal(it.fetching, false);
});

test("its last payload ends it, and nobody looks after it any more", async () => {
  const { it, asked } = session();
  it.start({});
  it.hear(payload(it.pending, [{}], true));
  assert.equal(it.state, "idle");
  await after(60_000);
  assert.equal(asked.length, 1);
});

test("a run that has begun is told to stop and ends with its last payload; one that has not ends at once", async () => {
  const { it, asked } = session();
  it.start({});
  assert.equal(await it.stop(), true);
  assert.equal(it.state, "idle");
  it.start({});
  it.hear(payload(it.pending, [{}]));
  assert.equal(await it.stop(), false);
  assert.equal(it.state, "stopping");
  assert.equal(await it.stop(), false, "a second press asks nothing");
  assert.deepEqual(
    asked.map(([name]) => name),
    ["generate", "stop", "generate", "stop"],
  );
});

test("where the server does not answer, Stop ends the run here and says so; leaving it says nothing", async () => {
  const { it } = session({
    stop: async () => {
      throw new Error("gone");
    },
  });
  it.start({});
  await it.leave();
  it.start({});
  it.hear(payload(it.pending, [{}]));
  await assert.rejects(it.stop(), /gone/);
  assert.equal(it.state, "idle");
});

test("a stream that falls silent is asked for what is missing; one that speaks, or has just been opened, is not", async () => {
  const { it, asked, heard } = session();
  it.start({});
  await after(14_000);
  assert.equal(asked.length, 1, "a busy server may take a while to hear of a run");
  it.hear(payload(it.pending, [{}]));
  await after(4000);
  assert.equal(asked.length, 1);
  await after(4000);
  assert.deepEqual(asked[1], ["tail", { run: it.pending, from: 7 }]);
  assert.equal(heard[0].run, it.pending);
});

test("a page that is looked at again asks at once, and a look that fails is tried again", async () => {
  let broken = true;
  const { it, asked, heard } = session({
    tail: async ({ run }) => {
      if (broken) throw new Error("offline");
      return payload(run);
    },
  });
  it.start({});
  it.hear(payload(it.pending, [{}]));
  now += 60_000;
  shown.again();
  await settled();
  assert.deepEqual([asked.at(-2)[0], asked.at(-1)[0], heard.length], ["tail", "unreached", 0]);
  broken = false;
  shown.again();
  await settled();
  assert.equal(heard.length, 1);
});

test("another run that is shown lets the pending one go on", async () => {
  const { it, asked, heard } = session({ simulate: async ({ run }) => payload(run, [{}], true) });
  it.start({});
  await it.simulate({});
  assert.equal(it.state, "busy");
  assert.equal(heard.length, 1);
  assert.deepEqual(
    asked.map(([name]) => name),
    ["generate", "simulate"],
  );
});

test("of several that are asked for, the last one is shown, whichever comes first", async () => {
  const slow = new Promise((resolve) => setTimeout(resolve, 20));
  const { it, heard } = session({
    simulate: async ({ run, first }) => (first && (await slow), { ...payload(run, [{}], true), from: first ? 1 : 2 }),
  });
  await Promise.all([it.simulate({ first: true }), it.simulate({})]);
  assert.deepEqual(
    heard.map((one) => one.from),
    [2],
  );
});

test("a run that was found again is asked for until it is over, one question at a time", async () => {
  const answers = [];
  const { it, asked } = session({
    tail: ({ run }) => new Promise((resolve) => answers.push(() => resolve(payload(run)))),
  });
  it.resume("a".repeat(32));
  assert.equal(it.state, "busy");
  await after(3000);
  assert.deepEqual(asked, [["tail", { run: "a".repeat(32), from: 7 }]]);
  answers[0]();
  await settled();
  await after(1000);
  assert.equal(asked.length, 2);
  it.hear(payload(it.pending, [], true));
  answers[1]();
  await settled();
  await after(5000);
  assert.equal(asked.length, 2);
});

test("a recording is asked for beside the scripts' own folder, whatever its name", async () => {
  const asked = [];
  const { it, heard } = session();
  const reply = (ok) => async (url) => (
    asked.push(url.pathname),
    new Response(ok ? JSON.stringify(payload("")) : "no", {
      status: ok ? 200 : 502,
      headers: { "content-type": ok ? "application/json" : "text/html" },
    })
  );
  mock.method(globalThis, "fetch", reply(true));
  await it.recording("a/b?c");
  assert.ok(asked[0].endsWith("/recordings/a%2Fb%3Fc"));
  assert.equal(heard.length, 1);
  mock.method(globalThis, "fetch", reply(false));
  await assert.rejects(it.recording("x"), /status 502/);
});

test("a file that is too large for a trace is not read", async () => {
  const { it, asked } = session({ open_trace: async () => payload("") });
  await assert.rejects(it.open({ size: 2 ** 21, name: "t" }, 2 ** 20), /larger than 1 MB/);
  assert.deepEqual(asked, []);
});

test("a page that is closed names the run that is not over, and no other", async () => {
  const told = [];
  Object.defineProperty(globalThis, "navigator", {
    configurable: true,
    value: { sendBeacon: (url, body) => told.push([new URL(url).pathname.split("/").at(-1), body]) },
  });
  globalThis.navigation = { addEventListener: (what, f) => (shown[what] = f) };
  const { it } = session();
  shown.pagehide();
  const run = it.start({});
  shown.navigate({ navigationType: "reload" });
  shown.pagehide();
  shown.navigate({ navigationType: "replace" });
  shown.pagehide();
  it.hear(payload(run, [], true));
  shown.pagehide();
  assert.deepEqual([told.length, told[0][0], told[0][1].type], [1, "left", "application/json"]);
  assert.deepEqual(JSON.parse(await told[0][1].text()), { run });
});
