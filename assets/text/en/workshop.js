/** What the bar of a class says: where the instructor leads, who is here, what was answered. */

import { LANGUAGE, translate } from "../language.js";
import { many } from "../many.js";

const figure = (/** @type {number} */ x) => x.toLocaleString(LANGUAGE, { maximumFractionDigits: 6 });
const unit = (/** @type {string} */ text) => (text ? ` ${text}` : "");

export const WORKSHOP = {
  label: "The class",
  joining: "Room code",
  join: "Join the class",
  coming: "Joining the class\u2026",
  wrong: (/** @type {string} */ why) => `You are not in the class: ${why}.`,
  slowed: (/** @type {number} */ s) => `Too many wrong codes came from here. Trying again in ${s} s\u2026`,
  lost: "The class cannot be reached; trying again\u2026",
  idle: "You are in the class. Until the instructor leads, look around on your own.",
  leads: (/** @type {string} */ place) => `The instructor leads: ${place}`,
  freed: (/** @type {string} */ place) => `Look around on your own. The class was last at: ${place}`,
  again: "Back to the class",
  there: "Go there",
  here: (/** @type {number} */ n) => many(n, "learner is here", "learners are here"),
  hereShort: (/** @type {number} */ n) => `${n} here`,
  screens: (/** @type {string} */ place) => `All screens: ${place}`,
  still: (/** @type {string} */ place) => `All screens still show: ${place}`,
  free: "The screens are free",
  send: "Send this to all",
  sendShort: "Send to all",
  keeps: "and what I open next",
  keepsShort: "and next",
  release: "Free the screens",
  releaseShort: "Free",
  code: (/** @type {string} */ code) => `Room code ${code}`,
  codeTip: "show the address and the code to the room",
  unsent: "This is for you alone; open what the class should see.",
  failed: (/** @type {string} */ why) => `That did not reach the class: ${why}`,
  answers: "Answers",
  answered: (/** @type {number} */ n) => many(n, "answer", "answers"),
  show: "Show the answers to all",
  hide: "Hide the answers",
  csv: "Answers as CSV",
  csvTip: "all answers so far as a table for a spreadsheet; without names",
  csvColumns: ["lesson", "title", "step", "question", "answer", "unit", "learners"],
  answersTo: (/** @type {number} */ step) => `Answers to the question of step ${step}`,
  choice: (/** @type {number} */ n) => `choice ${n}`,
  share: (/** @type {number} */ n, /** @type {number} */ of) => `${n} (${of ? Math.round((100 * n) / of) : 0}%)`,
  bin: (/** @type {number|null} */ from, /** @type {number|null} */ to, /** @type {string} */ of) => {
    if (from === null) return `up to ${figure(to ?? 0)}${unit(of)}`;
    if (to === null) return `${figure(from)}${unit(of)} or more`;
    return from === to ? `${figure(from)}${unit(of)}` : `${figure(from)} to ${figure(to)}${unit(of)}`;
  },
  poster: {
    title: "Join the class",
    open: "Scan the code, or open",
    enter: "and enter",
    label: "QR code of the class\u2019s address",
    close: "Close",
    here: "Only this machine can open this address. Connect it to the room\u2019s network and start the server again.",
    failed: "The QR code could not be drawn; the address and the code are enough.",
  },
  places: {
    step: (/** @type {string} */ lesson, /** @type {string} */ step) => `lesson ${lesson}, step ${step}`,
    lessons: "the list of lessons",
    card: { task: "a task for the class", discuss: "a question for the class" },
    race: (/** @type {string} */ name) => (name ? `the race \u201c${name}\u201d` : "the races"),
    load: (/** @type {string} */ n) => `${n || "many"} requests at once`,
    pair: (/** @type {string[]} */ titles) => `${titles.map((one) => `\u201c${one}\u201d`).join(" and ")}, compared`,
    recording: (/** @type {string} */ title, /** @type {string} */ round) =>
      `the recording \u201c${title}\u201d${round ? `, round ${round}` : ""}`,
    system: (/** @type {string} */ name) => (name ? `${name}, in the Atlas` : "the Atlas"),
    stack: (/** @type {string} */ name) => `the stack \u201c${name}\u201d`,
    run: "a run of the instructor",
    tab: (/** @type {string} */ name) => `the tab ${name[0].toUpperCase()}${name.slice(1)}`,
    explore: "Explore",
  },
};

translate("workshop", { WORKSHOP });
