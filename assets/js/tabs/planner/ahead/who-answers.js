/** Who answers the Planner: the server, or files that were worked out ahead for a page without one. Asked alike. */

import { AskerAhead } from "./plans-ahead.js";
import { askedOfServer, madeAhead } from "../another/answers.js";
import { Asker } from "../another/asker.js";
import { ANOTHER } from "../../../../text/en/another.js";
import { AHEAD } from "../../../../text/en/planner.js";

/** @typedef {import("../another/asker.js").Hear} Hear */

/** @param {{base: string, setup: any, ahead: import("./plans-ahead.js").Ahead|null}} where */
export const whoAnswers = ({ base, setup, ahead }) => ({
  /** The plans of a profile. @param {Hear} hear */
  plans: (hear) => (ahead ? new AskerAhead(ahead, hear) : new Asker(base + setup.answer, hear)),
  /** Whether another level is worth it. @param {import("../another/answers.js").Hear} hear */
  another: (hear) =>
    ahead
      ? madeAhead((question) => ahead.curves(question), hear, ANOTHER.noGrid)
      : askedOfServer(base + setup.another, hear),
  /** What systems ask. @param {string} name @param {Hear} hear @returns {{ask: (question: any) => any}} */
  brought: (name, hear) =>
    ahead ? { ask: (question) => found(ahead, name, question, hear) } : new Asker(base + setup.brought[name], hear),
});

/** @param {import("./plans-ahead.js").Ahead} ahead @param {string} name @param {any} question @param {Hear} hear */
async function found(ahead, name, question, hear) {
  const answer = await ahead.brought(name, question).catch(() => ({ error: AHEAD.unread }));
  if (answer?.error || !answer) return hear.onRefusal(answer?.error ?? AHEAD.none, "");
  return hear.onAnswer(answer, question);
}
