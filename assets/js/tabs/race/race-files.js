/** Races and their lanes as files: saved, handed to Explore, dropped onto the tab. */

import { eventLines } from "../../shared/visit/feed.js";
import { gzipped, saveGzip, traceName } from "../../shared/kit/files.js";

/** @param {{race: any, lanes: any[]}} shown @returns {Promise<string>} the file's name */
export async function saveRace({ race, lanes }) {
  const text = [JSON.stringify(race), ...lanes.map((lane) => eventLines(lane.records).trimEnd())].join("\n");
  const name = `race-${(race.title || "own").replace(/[^\w-]+/g, "-").toLowerCase()}.jsonl.gz`;
  await saveGzip(`${text}\n`, name);
  return name;
}

/** @param {any} lane @returns {Promise<string>} the file's name */
export async function saveLane(lane) {
  const name = traceName(lane.model.header);
  await saveGzip(eventLines(lane.records), name);
  return name;
}

/** The lane as a trace. @param {any} lane */
export const laneFile = async (lane) =>
  new File([await gzipped(eventLines(lane.records))], traceName(lane.model.header));

/** Files that are dropped anywhere on an element are its own; it shows so while one is held over it.
 *  @param {HTMLElement} el @param {(file: File) => void} onFile */
export function takesFiles(el, onFile) {
  const over = (/** @type {boolean} */ yes) => el.classList.toggle("hx-race-drop", yes);
  el.addEventListener("dragover", (event) => {
    if (![...(event.dataTransfer?.types ?? [])].includes("Files")) return;
    event.preventDefault();
    over(true);
  });
  el.addEventListener(
    "dragleave",
    (event) => (event.relatedTarget instanceof Node && el.contains(event.relatedTarget)) || over(false),
  );
  el.addEventListener("drop", (event) => {
    over(false);
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    event.preventDefault();
    onFile(file);
  });
}
