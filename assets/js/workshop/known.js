/** What the bar of a class knows of the page's texts (lessons with their questions, classes, races; fetched once,
 *  when first needed), and what an address that was sent is called. */

import { asked, LESSONS } from "../tabs/learn/library.js";
import { stopAddress, stopsOf } from "../tabs/learn/class/stops.js";
import { tabOf } from "../shared/share/arrive.js";
import { stageHere } from "../shared/player/within-reach.js";
import { stackName } from "../shared/levels/stack-names.js";
import { translated } from "../../text/heard.js";
import { WORKSHOP } from "../../text/en/workshop.js";

/** @import {ClassPlan, Stop} from "../tabs/learn/class/stops.js"
 *  @import {Lesson} from "../tabs/learn/figures/run-figures.js" */

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

/** @typedef {{lessons: Lesson[], classes: ClassPlan[]}} Lessons lessons: in the order in which they are numbered */
/** @type {Lessons} */ export const NO_LESSONS = { lessons: [], classes: [] };

/** @returns {Promise<Lessons>} */
export const lessonsKnown = () => once(LESSONS, NO_LESSONS);

/** @returns {Promise<{name: string, title: string}[]>} */
const racesKnown = async () => translated(await once("races", []));

/** @returns {Promise<{name: string, title: string}[]>} those of the Atlas */
const systemsKnown = async () =>
  (await once("systems", { systems: [] })).systems.map((/** @type {{id: string, name: string}} */ one) => ({
    name: one.id,
    title: one.name,
  }));

/** A step. @param {Lesson[]} all lessons @param {{lesson: string, step: number}} of */
export const stepOfTally = (all, { lesson, step }) => all.find((one) => one.id === lesson)?.steps[step - 1] ?? null;

/** @param {Lesson[]} all lessons @param {string} id */
function numberOf(all, id) {
  const i = all.findIndex((one) => one.id === id);
  return i < 0 ? null : parseInt(id, 10) || i + 1;
}

/** The step with a question that an address shows, by the lesson's id; null for none.
 *  @param {Lesson[]} all lessons @param {string} search @returns {{lesson: string, step: number}|null} */
export function askedAt(all, search) {
  const query = new URLSearchParams(search);
  const found = all.find((one) => numberOf(all, one.id) === Number(query.get("lesson")));
  const step = Number(query.get("step") ?? 1);
  return tabOf(search) === "learn" && found?.steps[step - 1]?.question ? { lesson: found.id, step } : null;
}

/** @param {ClassPlan[]} classes @param {string} search of a class @returns {Stop|undefined} */
function stopOf(classes, search) {
  const query = new URLSearchParams(search);
  const plan = classes.find((one) => one.id === query.get("class"));
  return plan && stopsOf(plan)[Number(query.get("stop") ?? 1) - 1];
}

/** Whether an address shows the instructor's notes of a class. @param {string} search */
export const ofNotes = (search) => tabOf(search) === "learn" && new URLSearchParams(search).get("notes") === "1";

/** Where the notes of a class are, as the address that shows it to a room; null where that is not known.
 *  @param {Lessons} known @param {string} search of the notes */
export function notedAt({ lessons, classes }, search) {
  const [query, found] = [new URLSearchParams(search), stopOf(classes, search)];
  if (!found) return null;
  return stopAddress(found, {
    id: query.get("class") ?? "",
    stop: Number(query.get("stop") ?? 1) - 1,
    lesson: found.what === "step" ? numberOf(lessons, found.lesson) : null,
  });
}

// What an address that was sent is called, in the line that says where the instructor leads.

/** @typedef {{name: string, title: string}} Titled */

/** What it is called on this page. @param {string} address */
export async function placeNamed(address) {
  const { recordings } = await stageHere;
  const tab = tabOf(address);
  const { classes } = tab === "learn" ? await lessonsKnown() : NO_LESSONS;
  const races = tab === "race" ? await racesKnown() : [];
  const systems = tab === "atlas" ? await systemsKnown() : [];
  return placeName(address, { recordings, classes, races, systems });
}

/** @param {string} address @param {{recordings: Titled[], classes: ClassPlan[], races: Titled[], systems: Titled[]}} known */
export function placeName(address, { recordings, classes, races, systems }) {
  const [search, hash] = address.split("#");
  const query = new URLSearchParams(search);
  const get = (/** @type {string} */ name) => query.get(name)?.slice(0, 300) ?? "";
  const title = (/** @type {Titled[]} */ all, /** @type {string} */ name) =>
    all.find((one) => one.name === name)?.title ?? name;
  const names = WORKSHOP.places;
  const tab = tabOf(search);
  if (tab === "learn") {
    const stop = query.has("stop") ? stopOf(classes, search) : null;
    if (query.has("stop")) return names.card[stop?.what === "card" ? stop.kind : "task"];
    return query.has("lesson") ? names.step(get("lesson"), get("step") || "1") : names.lessons;
  }
  if (tab === "race" && query.has("compare"))
    return names.pair(
      get("compare")
        .split(",")
        .map((name) => title(recordings, name)),
    );
  if (tab === "race" && query.has("load")) return names.load(get("load"));
  if (tab === "race") return names.race(title(races, get("race")));
  if (tab === "atlas") return names.system(title(systems, get("system")));
  if (tab !== "explore") return names.tab(tab.slice(0, 40));
  if (hash) return names.run;
  if (query.has("recording")) return names.recording(title(recordings, get("recording")), get("at").split(".")[0]);
  return query.has("stack") ? names.stack(stackName(get("stack"))) : names.explore;
}
