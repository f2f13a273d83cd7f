/** A token that is chosen, in words: in each lane who supplied it, who passed it, and when it stood in the text. */

import { duration } from "../../../shared/words/numbers.js";
import { spoken } from "../../../shared/text/token/token.js";
import { LANE, WORDS } from "../words/race.js";

/** @param {import("./lane-model.js").LaneModel} lane @param {number} at @param {string} who */
export function tokenText(lane, at, who) {
  const record = lane.tokenAt(at);
  if (!record) return `${who}: ${WORDS.shorter}`;
  return LANE.token(who, spoken(record, lane.model, Infinity), duration(lane.times[at]));
}
