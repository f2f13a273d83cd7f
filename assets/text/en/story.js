/** What the opening says: one sentence a moment, out of the figures of the recording. */

import { translate } from "../language.js";
import { many } from "../many.js";
import { duration } from "../numbers.js";

const COUNTS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
const count = (/** @type {number} */ n) => COUNTS[n] ?? String(n);
const words = (/** @type {number} */ n) => `${count(n)} ${n === 1 ? "word" : "words"}`;
const capital = (/** @type {string} */ text) => text.charAt(0).toUpperCase() + text.slice(1);
const quoted = (/** @type {string} */ text) => `\u201c${text}\u201d`;

export const STORY = {
  name: "The idea in half a minute",
  /** The scenes, as their buttons name them. */
  scenes: ["One round", "The model alone", "The whole answer"],
  scene: (/** @type {number} */ nth, /** @type {string} */ name) => `Scene ${nth}: ${name}`,
  back: "Back",
  pause: "Pause",
  on: "Go on",
  next: "Next",
  again: "Play again",
  explore: "Explore",
  exploreTip: "go on to the page: your own prompts, every round in detail",
  keys: "Space or \u2192 goes on, \u2190 back, Esc to Explore",
  swipe: "Swipe to go on",
  link: "The idea",
  linkTip: "one round, animated, in half a minute",
  pass: (/** @type {string} */ time) => `one pass, ${time}`,
  around: (/** @type {number} */ ns) => `with ${duration(ns)} between the passes`,
  together: "With the small levels",
  alone: "The model alone",
  target: "the model",
  gain: "as fast as the model alone",
  /** On what the gain was measured. */
  where: (/** @type {string} */ machine) => `one prompt${machine ? `, ${machine}` : ""}`,
  against: (/** @type {string} */ now, /** @type {string} */ plain) => `${now} against ${plain} tokens/s`,
  recorded: (/** @type {string} */ device, /** @type {string} */ machine, /** @type {string} */ day) =>
    `Recorded on ${device}: ${[machine, day].filter(Boolean).join(", ")}. Every figure is measured.`,
};

/** One sentence a moment. */
export const TOLD = {
  begins: "A language model writes one word after the other. Small models can guess ahead for it.",
  drafts: (/** @type {string} */ who, /** @type {number} */ n, /** @type {string} */ time) =>
    `The cheapest level, ${who}, guesses ${words(n)} in ${time}.`,
  rises: (/** @type {string} */ who, /** @type {number} */ n, /** @type {string} */ time) =>
    `They rise to the next level: ${who} reads all ${count(n)} in one pass, ${time}.`,
  arrives: (/** @type {number} */ n, /** @type {string} */ time) =>
    `The ${count(n)} rise to the model, the target: it reads them all in one pass, ${time}.`,
  strikes: (/** @type {number} */ kept, /** @type {string} */ struck) =>
    kept
      ? `It keeps the ${count(kept)} that it would have written itself, and strikes out ${quoted(struck)}.`
      : `It would have written something else, and strikes out ${quoted(struck)}.`,
  corrects: (/** @type {string} */ own) => `In its place it writes its own word, ${quoted(own)}.`,
  keeps: (/** @type {number} */ kept) => `It keeps all ${count(kept)}.`,
  adds: (/** @type {number} */ kept, /** @type {string} */ own) =>
    `It keeps all ${count(kept)} and adds ${quoted(own)}: ${words(kept + 1)} for one pass.`,
  commits: (/** @type {number} */ n, /** @type {boolean} */ same) =>
    `The ${words(n)} join the text${same ? ", and they are just what the model alone writes" : ""}.`,
  alone: (/** @type {number} */ n) => `Now the same ${words(n)} without any help.`,
  one: "Each word costs a whole pass of its own.",
  both: (/** @type {number} */ n, /** @type {string} */ plain, /** @type {string} */ time) =>
    `${capital(count(n))} passes, ${plain}. With the small levels it took ${time}.`,
  runs: "And the whole answer, in the time that was measured.",
  ends: (/** @type {string} */ gain, /** @type {number} */ tokens, /** @type {boolean} */ same) =>
    `${gain} times as fast${same ? `, and the same text: all ${many(tokens, "token")} agree` : ""}.`,
};

translate("story", { STORY, TOLD });
