/** What an address that was sent is called, in the line that says where the instructor leads. */

import { stackName } from "../levels/stack-names.js";
import { tabOf } from "../share/arrive.js";
import { WORKSHOP } from "../words/workshop.js";

/**
 * @param {string} address
 * @param {{recordings: {name: string, title: string}[]}} known
 */
export function placeName(address, { recordings }) {
  const [search, hash] = address.split("#");
  const query = new URLSearchParams(search);
  const get = (/** @type {string} */ name) => query.get(name)?.slice(0, 300) ?? "";
  const names = WORKSHOP.places;
  const tab = tabOf(search);
  if (tab === "learn") {
    if (query.has("stop")) return names.card;
    return query.has("lesson") ? names.step(get("lesson"), get("step") || "1") : names.lessons;
  }
  if (tab === "race") return query.has("compare") ? names.pair : names.race(get("race"));
  if (tab !== "explore") return names.tab(tab.slice(0, 40));
  if (hash) return names.run;
  const recording = recordings.find((one) => one.name === get("recording"));
  if (recording) return names.recording(recording.title, get("at").split(".")[0]);
  return query.has("stack") ? names.stack(stackName(get("stack"))) : names.explore;
}
