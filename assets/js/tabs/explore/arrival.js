/** What an address asks of the first screen: read when the page is opened, and again when it is led elsewhere. */

import { RECORDED } from "../../shared/visit/journey.js";
import { packedIn } from "../../shared/share/links.js";
import { STAGE } from "../../../text/en/run.js";

/** @import {Feed} from "../../shared/run/trace.js" @import {Place} from "../../shared/share/place.js"
 *  @import {Session} from "../../shared/visit/session.js" @import {Wish} from "../../shared/visit/wish.js" */

/** What this needs of the first screen.
 *  @typedef {{feed: Feed, session: Session,
 *    wish: Wish, place: Place, settings: Record<string, any>,
 *    setup: Record<string, any>, parts: any, acts: {invite: () => string}, refresh: () => void,
 *    tell: (text: string, kind?: string) => void, attempt: (action: () => Promise<void>) => Promise<void>}} Stage */
/** given: settings; wanted: the recording to show, if one is named; exact: whether it has that name, and not the nearest;
 *  said: what is to be said of all that
 *  @typedef {{given: Record<string, any>, wanted: any, exact: boolean, said: string[]}} Wanted */

/** Takes the settings out of the address. @param {Stage} stage @returns {Wanted} */
export function wantedBy({ wish, setup, place, settings }) {
  const { given, refused } = wish.ask();
  const said = refused.length ? [STAGE.leftOut(refused.join(", "))] : [];
  const named =
    given.recording && setup.recordings.find((/** @type {{name: string}} */ r) => r.name === given.recording);
  const wanted = named || (given.recording && place.nearest(given.recording, setup.recordings));
  if (given.recording && !named) {
    settings.recording = wanted?.name ?? "";
    said.unshift(place.another(given.recording, wanted?.title));
  }
  return { given, wanted, exact: Boolean(named), said };
}

/** A run is shown: goes to the moment of the address, says what is to be said, opens what it opens. @param {Stage} stage @param {Wanted} asked */
export async function settle(stage, { given, wanted, exact, said }) {
  const { wish, settings, place, parts, acts } = stage;
  wish.asked = {};
  settings.stack = parts.tower.stack;
  stage.refresh();
  said.push(...place.arrive(Boolean(wanted && !exact)));
  if (said.length) stage.tell(said.join(" "), "error");
  else if (!wanted) {
    if (given.stack) await parts.tower.settled();
    place.instead(given, acts.invite());
  }
  parts.desk.begin();
  parts.panels.begin();
}

/** Shows what the address asks for now, over what is shown; a run that goes on goes on aside. @param {Stage} stage */
export async function arriveAt(stage) {
  const { feed, wish, session, place } = stage;
  place.leave();
  const asked = wantedBy(stage);
  await stage.attempt(async () => {
    if (packedIn(location.hash)) await place.unpack();
    else if (!asked.wanted) return;
    else if (feed.model && feed.run === RECORDED + asked.wanted.name) wish.adopt(feed.model);
    else await session.recording(asked.wanted.name);
  });
  if (asked.wanted) stage.settings.recording = asked.wanted.name;
  await settle(stage, asked);
}
