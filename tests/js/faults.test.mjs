// Claims about what the server says against stacks, with answers that the test gives. Run: node --test tests/js

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { Faults } from "../../assets/js/tabs/explore/tower/composition.js";

const [low, high, roof] = [{}, {}, {}];
const RISE = { level: 1, reason: "exits rise" };

/** @type {{stack: string|null, answer: (faults: object[]|null) => Promise<void>}[]} */ let asked;
let news = 0;

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  [asked, news] = [[], 0];
  globalThis.fetch = /** @type {any} */ (
    (/** @type {URL} */ url) =>
      new Promise((resolve) => {
        const answer = async (/** @type {object[]|null} */ faults) => {
          resolve({ ok: faults !== null, json: async () => ({ faults }) });
          await rest();
        };
        asked.push({ stack: url.searchParams.get("stack"), answer });
      })
  );
});

const rest = () => new Promise((resolve) => setImmediate(resolve));
const settle = async () => {
  mock.timers.tick(100);
  await rest();
};
const made = () => new Faults(() => (news += 1));

test("of changes that follow one another the last alone is asked, and its answer is told", async () => {
  const faults = made();
  for (const stack of ["a", "b", "c"]) faults.ask(stack);
  await settle();
  assert.deepEqual(
    asked.map(({ stack }) => stack),
    ["c"],
  );
  await asked[0].answer([RISE]);
  assert.equal(news, 1);
  assert.deepEqual([...faults.of("c", [low, high, roof])], [[high, "exits rise"]]);
});

test("until an answer comes the last one stands, for the levels that it spoke of", async () => {
  const faults = made();
  faults.ask("a");
  await settle();
  await asked[0].answer([RISE]);
  faults.of("a", [low, high, roof]);
  faults.ask("b");
  assert.deepEqual([...faults.of("b", [high, low, roof]).keys()], [high], "moved, it takes its reason along");
  await settle();
  await asked[1].answer([]);
  assert.equal(faults.of("b", [high, low, roof]).size, 0);
  faults.ask("a");
  await settle();
  assert.equal(asked.length, 2, "what is known is not asked again");
});

test("an answer that comes late says nothing of the stack that stands now", async () => {
  const faults = made();
  faults.ask("a");
  await settle();
  faults.ask("b");
  await asked[0].answer([RISE]);
  assert.deepEqual([news, faults.of("b", [low, high, roof]).size], [0, 0]);
});

test("without an answer nothing is held against a stack, and the next change asks again", async () => {
  const faults = made();
  faults.ask("a");
  await settle();
  await asked[0].answer([RISE]);
  assert.equal(faults.of("a", [low, high, roof]).size, 1);
  faults.ask("b");
  await settle();
  await asked[1].answer(null);
  await faults.settled;
  assert.deepEqual([news, faults.of("b", [low, high, roof]).size], [2, 0]);
  faults.ask("b");
  await settle();
  assert.equal(asked.length, 3);
});
