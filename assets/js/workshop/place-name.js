/** What an address that was sent is called, in the line that says where the instructor leads. */

import { stageHere } from "../shared/player/within-reach.js";
import { stackName } from "../shared/levels/stack-names.js";
import { tabOf } from "../shared/share/arrive.js";
import { lessonsKnown, NO_LESSONS, racesKnown, stopOf, systemsKnown } from "./known.js";
import { WORKSHOP } from "../../text/en/workshop.js";

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

/** @param {string} address @param {{recordings: Titled[], classes: any[], races: Titled[], systems: Titled[]}} known */
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
  if (tab === "race") return names.race(title(races, get("race")));
  if (tab === "atlas") return names.system(title(systems, get("system")));
  if (tab !== "explore") return names.tab(tab.slice(0, 40));
  if (hash) return names.run;
  if (query.has("recording")) return names.recording(title(recordings, get("recording")), get("at").split(".")[0]);
  return query.has("stack") ? names.stack(stackName(get("stack"))) : names.explore;
}
