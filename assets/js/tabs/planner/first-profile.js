/** The profiles that there are, and which of them the tab shows first. */

import { linked, usual } from "./link.js";
import { PLANNER } from "../../../text/en/planner.js";

/** @typedef {import("./profile/profile.js").Source} Source */

const HOW = "python -m hsd_core calibrate";

/** @param {string} url @returns {Promise<{sources: Source[], how: string, by_length?: [string, string][], fault: string}>}
 *    by_length: presets and devices that have profiles by length; fault: why there are none */
export async function listedProfiles(url) {
  try {
    return { ...(await (await fetch(url)).json()), fault: "" };
  } catch {
    return { sources: [], how: HOW, fault: PLANNER.noServer };
  }
}

/** The one that the address names, else the best; why it is another than was asked for. @param {Source[]} sources */
export function firstProfile(sources) {
  const query = new URLSearchParams(location.search);
  const asked = linked(sources);
  const [source, at] = asked ?? [usual(sources), 0];
  const lost = asked ? null : query.get("profile"); // a link from another machine
  const preset = asked ? null : query.get("preset");
  const other = preset && source && source.preset !== preset;
  const instead = other ? PLANNER.noneOf(preset.slice(0, 80), source.title) : "";
  return { source, at, lost: lost ? PLANNER.lost(lost.slice(0, 80)) : "", instead };
}
