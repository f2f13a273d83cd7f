/** The address that stands for what a window shows, as links have it, without what belongs to that window alone. */

import { RECORDED } from "../shared/visit/journey.js";
import { brought } from "../systems/index.js";
import { momentLink, runLink, settingsLink, momentOf } from "../shared/share/links.js";
import { tabOf } from "../shared/share/arrive.js";

/** @import {Reach} from "../shared/player/within-reach.js" */

const OWN_SCREEN = ["room", "workshop", "notes", "present", "embed", "story", "scene"]; // as app/workshop/room.py
const OF_LESSONS = ["lesson", "step", "beside", "sheet", "class", "stop"];
export const FIRST = "explore";
/** @type {Record<string, string[]>} */
const OF_TABS = {
  ...{ learn: OF_LESSONS, race: ["race", "compare", "load"] },
  atlas: ["system", "who", "how", "exact", "here", "find"],
}; // all that these read of an address
/** What of Explore is open. */
const openOf = () => ["panel", "anatomy", "proof", ...brought.desks.map(({ name }) => name)];

/** What of an address can be sent; null where it is for the instructor alone: a class's plan, or its notes.
 *  @param {string} search */
export function sendable(search) {
  const query = new URLSearchParams(search);
  const [plan, noted] = [query.has("class") && !query.has("stop"), query.has("notes")];
  const tab = tabOf(search);
  if (tab === "learn" && (plan || noted)) return null;
  const [all, none] = [OF_TABS[tab], tab === "learn" ? [] : OF_LESSONS];
  for (const name of [...query.keys()]) {
    const own = OWN_SCREEN.includes(name) || name.startsWith("__");
    if (own || none.includes(name) || (all && name !== "tab" && !all.includes(name))) query.delete(name);
  }
  if (query.has("lesson")) for (const name of ["class", "stop"]) query.delete(name);
  return query.size ? `?${query}` : "?explore=1"; // by which no story covers it
}

/** Whether a window is about something else than what was sent: of the first screen, whose moments are in no window's address,
 *  that is not told.
 *  @param {string|null} here the window's own address, as `sendable` gives it @param {string|undefined} sent */
export function isAnother(here, sent) {
  if (here === null || sent === undefined) return false;
  if (tabOf(here) === FIRST && tabOf(sent) === FIRST) return false;
  const sorted = (/** @type {string} */ address) => {
    const query = new URLSearchParams(address.split("#")[0]);
    query.sort();
    return String(query);
  };
  return sorted(here) !== sorted(sent);
}

/** What tells whether this window shows something else than before, without the work of making a link. @param {Reach} reach */
export function trace(reach) {
  const { feed, player } = reach;
  const moment = feed.model?.header ? momentOf(feed.model, player.cursor) : "";
  const explore = tabOf(location.search) === FIRST;
  return [location.search, ...(explore ? [feed.run, feed.final, moment, reach.stack()] : [])].join(" ");
}

/** The address of what this window shows: of a recording the moment; of a run of one's own, the run itself if a link can
 *  hold it; else what is composed. Null where nothing here can be sent. @param {Reach} reach */
export async function openAddress(reach) {
  if (tabOf(location.search) !== FIRST) return sendable(location.search);
  const { feed, player, settings } = reach;
  const shown = { feed, player, settings, view: { selected: null } };
  let link = settingsLink(shown);
  if (feed.run?.startsWith(RECORDED) && reach.isSame()) link = momentLink(shown, null);
  else if (!feed.run?.startsWith(RECORDED) && feed.final && reach.isSame()) {
    const whole = await runLink(shown);
    if ("url" in whole) link = whole;
  }
  if (!("url" in link)) return null;
  const url = new URL(link.url);
  const now = new URLSearchParams(location.search);
  for (const name of openOf()) if (now.has(name)) url.searchParams.set(name, now.get(name) ?? "");
  return sendable(url.search) + url.hash;
}
