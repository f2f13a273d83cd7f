// Claims about what is shown, what goes on aside and what the history says. Run: node --test tests/js

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

const element = () => ({ append() {}, setAttribute() {}, addEventListener() {}, dataset: {}, style: {}, hidden: true });
globalThis.document = { createElement: element, hidden: false };
const heard = {};
globalThis.addEventListener = (name, f) => (heard[name] = f);
const entries = { list: [null], at: 0 };
globalThis.history = {
  get state() {
    return entries.list[entries.at];
  },
  replaceState: (state) => (entries.list[entries.at] = state),
  pushState: (state) => entries.list.splice(++entries.at, Infinity, state),
};
const { Journey } = await import("../../assets/js/shared/visit/journey.js");

beforeEach(() => Object.assign(entries, { list: [null], at: 0 }));

function page({ pending = null } = {}) {
  const told = [];
  const asked = [];
  const it = {
    session: {
      pending,
      started: true,
      recording: async (name) => asked.push(name),
      again: async (run) => asked.push(run),
      reopened: async () => null,
    },
    feed: { run: null },
    wish: {
      settings: {},
      asked: {},
      ask: (others) => ({ given: Object.assign(it.wish.settings, others) }),
      request: () => ({ prompt: it.wish.settings.prompt }),
    },
    tail: async () => null,
    apply: (payload) => (it.feed.run = payload.run),
    tell: (text) => told.push(text),
    busy() {},
    refresh() {},
    attempt: (action) => action(),
  };
  const journey = new Journey(it);
  const show = (run, live = false) => {
    it.feed.run = run;
    journey.shows(run, live, { run, ev: [{}], from: 0, status: { mode: live ? "live" : "recorded" } });
  };
  return { it, journey, show, told, asked };
}

const go = async (step) => {
  entries.at += step;
  await heard.popstate();
  await new Promise((resolve) => setImmediate(resolve));
};

test("the first run takes the entry that there is, each other one makes its own, the same one none", () => {
  const { show } = page();
  for (const run of ["recorded-a", "recorded-a", "recorded-b", "x1"]) show(run);
  assert.deepEqual(
    entries.list.map((state) => state.hx),
    ["recorded-a", "recorded-b", "x1"],
  );
});

test("Back asks for a recording by its name, for a run at the server, and shows an opened file from memory", async () => {
  const { it, show, asked, told } = page();
  show("recorded-a");
  show("live1", true);
  show("file1");
  show("recorded-b");
  await go(-1);
  assert.equal(it.feed.run, "file1");
  await go(-1);
  await go(-1);
  assert.deepEqual(asked, ["live1", "a"]);
  assert.equal(entries.list.length, 4, "going back makes no entry");
  assert.equal(told.length, 2, "neither came, and both times that is said");
});

test("Back finds the prompt that the run was asked with, whatever was typed before the next one", async () => {
  const { it, journey, show } = page();
  const { settings } = it.wish;
  const run = (name, prompt) => {
    settings.prompt = prompt;
    journey.asked = { run: name, request: it.wish.request() };
    settings.prompt = `${prompt}, and more typed while it waits`;
    show(name, true);
    journey.settles(name);
  };
  it.session.again = async (name) => it.apply({ run: name });
  run("live1", "one");
  run("live2", "two");
  await go(-1);
  assert.deepEqual([it.feed.run, settings.prompt], ["live1", "one"]);
  settings.prompt = "three";
  await go(1);
  assert.deepEqual([it.feed.run, settings.prompt], ["live2", "two"]);
});

test("a run that is not over goes on aside while another is shown, and is gone from there when it is shown", () => {
  const { it, journey, show } = page({ pending: "live1" });
  journey.wanted = "live1";
  show("live1", true);
  assert.equal(journey.aside.run, null);
  show("recorded-a");
  assert.deepEqual([journey.aside.run, journey.wanted, journey.aside.el.hidden], ["live1", null, false]);
  journey.hear({ run: "live1", from: 9, ev: [], final: true, status: { mode: "live", text: "" } });
  assert.match(journey.aside.el.textContent, /is done/);
  it.session.pending = null;
  show("live1", true);
  assert.equal(journey.aside.el.hidden, true);
});

test("one that ends before it has written anything leaves, and why is said", () => {
  const { journey, told } = page({ pending: "live1" });
  journey.aside.show("live1", "begins");
  journey.hear({ run: "live1", from: 0, ev: [], final: true, status: { mode: "error", text: "no such level" } });
  assert.deepEqual([journey.aside.run, told], [null, ["no such level"]]);
});

test("of a run that the server lost, a page that comes back says in the server's words why", async () => {
  const { it, journey } = page();
  globalThis.location = { hash: "" };
  globalThis.sessionStorage = { getItem: () => "live1" };
  globalThis.localStorage = { getItem: () => null, removeItem() {} };
  globalThis.PerformanceNavigationTiming = class {
    type = "reload";
  };
  performance.getEntriesByType = () => [new globalThis.PerformanceNavigationTiming()];
  it.tail = async ({ run }) => ({ run, from: 0, ev: [], final: true, status: { mode: "error", text: "restarted" } });
  assert.deepEqual(await journey.comeBack(), ["restarted"]);
  it.tail = async () => Promise.reject(new Error("offline"));
  assert.match((await journey.comeBack())[0], /no longer on the server/);
});
