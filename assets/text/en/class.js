/** What a class says of itself; its plan stands in assets/lessons/classes. */

import { translate } from "../language.js";

const clocked = (/** @type {number} */ s) => `${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")}`;

export const CLASS = {
  title: "Teach it",
  lead: "A path through the lessons, with what to say, what the room will ask, and a second window for your notes.",
  minutes: (/** @type {number} */ n) => `${n} min`,
  back: "Back to the lessons",
  both: "Start, with notes in a second window",
  start: "Start in this window",
  print: "Print the plan",
  before: "Before you begin",
  part: (/** @type {number} */ n, /** @type {string} */ title, /** @type {number} */ from, /** @type {number} */ to) =>
    `${n}  ${title} (minutes ${from} to ${to})`,
  shows: (/** @type {number} */ number, /** @type {string} */ title, /** @type {number[]} */ steps) =>
    `Shows lesson ${number}, \u201c${title}\u201d, ${steps.length === 1 ? "step" : "steps"} ${steps.join(", ")}.`,
  say: "Say",
  asked: "What the room will ask",
  discuss: "Ask the room",
  tasks: "Tasks",
  outcome: "What they should find:",
  notesOf: (/** @type {string} */ title) => `Notes: ${title}`,
  startClock: "Start the clock",
  stopClock: "Reset the clock",
  clock: (/** @type {number|null} */ s, /** @type {number} */ due, /** @type {number} */ all) =>
    `${s === null ? "\u2013" : clocked(s)} of ${all} min; this part ends at ${due} min`,
  alone: "No other window shows this class.",
  openProjector: "Open one for the projector",
  previous: "Back",
  next: "Next",
  answer: "Show the answer",
  shown: (/** @type {number} */ n, /** @type {number} */ of, /** @type {string} */ name) =>
    `Shown now (${n} of ${of}): ${name}`,
  then: (/** @type {string} */ name) => `Then: ${name}`,
  end: "the end",
  step: (/** @type {number|undefined} */ lesson, /** @type {number} */ step, /** @type {string} */ title) =>
    `lesson ${lesson ?? "?"}, step ${step}: ${title}`,
  tab: (/** @type {string} */ query) => `the tab ${new URLSearchParams(query).get("tab") ?? "explore"}`,
  card: {
    task: (/** @type {string} */ text) => `task: ${text}`,
    discuss: (/** @type {string} */ text) => `question: ${text}`,
  },
  cardHead: { task: "Your task", discuss: "What do you think?" },
  openTask: "Open what it needs",
  partNow: (
    /** @type {number} */ n,
    /** @type {number} */ of,
    /** @type {string} */ title,
    /** @type {number} */ minutes,
  ) => `Part ${n} of ${of}: ${title} (${minutes} min)`,
  unknown: (/** @type {string} */ id) => `There is no class \u201c${id}\u201d here; these are the lessons.`,
};

translate("class", { CLASS });
