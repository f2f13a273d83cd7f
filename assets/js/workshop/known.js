/** What the bar of a class knows of the page's texts: lessons with their questions, classes, races. Fetched once, when first
 *  needed; nothing where the server does not send it. */

import { asked } from "../tabs/learn/library.js";
import { stopAddress, stopsOf } from "../tabs/learn/class/stops.js";
import { tabOf } from "../shared/share/arrive.js";

/** @type {Map<string, Promise<any>>} */
const coming = new Map();

/** @param {string} path @param {any} nothing */
function once(path, nothing) {
  const found =
    coming.get(path) ??
    asked(path).catch(() => {
      coming.delete(path); // who asks again tries again
      return nothing;
    });
  coming.set(path, found);
  return found;
}

/** @typedef {{lessons: any[], classes: any[]}} Lessons lessons: in the order in which they are numbered */
/** @type {Lessons} */ export const NO_LESSONS = { lessons: [], classes: [] };

/** @returns {Promise<Lessons>} */
export const lessonsKnown = () => once("lessons", NO_LESSONS);

/** @returns {Promise<{name: string, title: string}[]>} */
export const racesKnown = () => once("races", []);

/** @returns {Promise<{name: string, title: string}[]>} those of the Atlas */
export const systemsKnown = async () =>
  (await once("systems", { systems: [] })).systems.map((/** @type {{id: string, name: string}} */ one) => ({
    name: one.id,
    title: one.name,
  }));

/** A step. @param {any[]} all lessons @param {{lesson: string, step: number}} of */
export const stepOfTally = (all, { lesson, step }) => all.find((one) => one.id === lesson)?.steps[step - 1] ?? null;

/** @param {any[]} all lessons @param {string} id */
function numberOf(all, id) {
  const i = all.findIndex((one) => one.id === id);
  return i < 0 ? null : parseInt(id, 10) || i + 1;
}

/**
 * The step with a question that an address shows, by the lesson's id; null for none.
 * @param {any[]} all lessons @param {string} search @returns {{lesson: string, step: number}|null}
 */
export function askedAt(all, search) {
  const query = new URLSearchParams(search);
  const found = all.find((one) => numberOf(all, one.id) === Number(query.get("lesson")));
  const step = Number(query.get("step") ?? 1);
  return tabOf(search) === "learn" && found?.steps[step - 1]?.question ? { lesson: found.id, step } : null;
}

/** @param {any[]} classes @param {string} search of a class @returns {import("../tabs/learn/class/stops.js").Stop|undefined} */
export function stopOf(classes, search) {
  const query = new URLSearchParams(search);
  const plan = classes.find((one) => one.id === query.get("class"));
  return plan && stopsOf(plan)[Number(query.get("stop") ?? 1) - 1];
}

/** Whether an address shows the instructor's notes of a class. @param {string} search */
export const ofNotes = (search) => tabOf(search) === "learn" && new URLSearchParams(search).get("notes") === "1";

/**
 * Where the notes of a class are, as the address that shows it to a room; null where that is not known.
 * @param {Lessons} known @param {string} search of the notes
 */
export function notedAt({ lessons, classes }, search) {
  const [query, found] = [new URLSearchParams(search), stopOf(classes, search)];
  if (!found) return null;
  return stopAddress(found, {
    id: query.get("class") ?? "",
    stop: Number(query.get("stop") ?? 1) - 1,
    lesson: found.what === "step" ? numberOf(lessons, found.lesson) : null,
  });
}
