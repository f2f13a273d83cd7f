/** The run that a page finds again: after a reload its own; after it was closed, for ten minutes, that of the last page. */

import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import {
  fileBefore,
  keepFile,
  keepPending,
  keepPlace,
  keepPrompt,
  pendingBefore,
  promptBefore,
} from "../../assets/js/shared/visit/pending.js";

const store = () => {
  const held = new Map();
  return {
    getItem: (key) => held.get(key) ?? null,
    setItem: (key, value) => held.set(key, value),
    removeItem: (key) => held.delete(key),
  };
};
const real = { performance: globalThis.performance, now: Date.now };
const heard = {};
let type = "navigate";

class Navigation {
  get type() {
    return type;
  }
}

/** Another page of the same browser. */
function nextPage(kind = "navigate") {
  type = kind;
  if (kind === "navigate") globalThis.sessionStorage = store();
}

beforeEach(() => {
  globalThis.localStorage = store();
  nextPage();
  globalThis.PerformanceNavigationTiming = Navigation;
  Object.defineProperty(globalThis, "performance", {
    value: { getEntriesByType: () => [new Navigation()] },
    configurable: true,
  });
  globalThis.addEventListener = (name, act) => (heard[name] = act);
  keepPlace();
});

afterEach(() => {
  Object.defineProperty(globalThis, "performance", { value: real.performance, configurable: true });
  Date.now = real.now;
});

test("a page that was closed hands its run to the next one, and to one alone", () => {
  keepPending("run1");
  heard.pagehide();
  nextPage();
  assert.equal(pendingBefore("race"), null, "another tab's run is not this one");
  assert.equal(pendingBefore(), "run1");
  nextPage();
  assert.equal(pendingBefore(), null);
});

test("the file that was opened last is there again after a reload, and no other one", () => {
  keepFile("run1", "a.jsonl", "AAAA");
  keepFile("run2", "b.jsonl", "BBBB");
  nextPage("reload");
  assert.equal(fileBefore("run1"), null);
  assert.deepEqual(fileBefore("run2"), { name: "b.jsonl", base64: "BBBB" });
  sessionStorage.setItem = () => {
    throw new Error("QuotaExceededError");
  };
  keepFile("run3", "c.jsonl", "C".repeat(9e6));
  assert.deepEqual([fileBefore("run2"), fileBefore("run3")], [null, null]);
});

test("a run that was over when the page was closed is not looked for", () => {
  keepPending("run1");
  keepPending(null);
  heard.pagehide();
  nextPage();
  assert.equal(pendingBefore(), null);
});

test("after ten minutes the server keeps no place, and the page looks for none", () => {
  keepPending("run1");
  heard.pagehide();
  Date.now = () => real.now() + 600_001;
  nextPage();
  assert.equal(pendingBefore(), null);
});

test("a page that is reloaded finds its own run, and leaves nothing for the next", () => {
  keepPending("run1");
  heard.pagehide();
  nextPage("reload");
  assert.equal(pendingBefore(), "run1");
  nextPage();
  assert.equal(pendingBefore(), null);
});

test("a page that comes back from the browser's cache was not closed", () => {
  keepPending("run1");
  heard.pagehide();
  heard.pageshow({ persisted: true });
  nextPage();
  assert.equal(pendingBefore(), null);
});

test("a prompt too long for the address is there again after a reload, and in no other page", () => {
  let prompt = "a long question ".repeat(200);
  keepPrompt(() => prompt);
  heard.pagehide();
  nextPage("reload");
  assert.equal(promptBefore(), prompt);
  prompt = "a short one";
  heard.pagehide();
  assert.equal(promptBefore(), "", "that one is in the address");
  prompt = "a long question ".repeat(200);
  heard.pagehide();
  nextPage();
  assert.equal(promptBefore(), "");
});

test("a browser that keeps nothing loses nothing but the way back", () => {
  globalThis.localStorage = { getItem: () => assert.fail("blocked"), removeItem() {} };
  assert.equal(pendingBefore(), null);
});
