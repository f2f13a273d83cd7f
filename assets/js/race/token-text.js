/** A token that is chosen, in words: in each lane who supplied it, who passed it, and when it stood in the text. */

import { duration } from "../svg.js";
import { spoken } from "../token.js";
import { WORDS } from "./race-words.js";

/** @param {import("./lane-model.js").LaneModel} lane @param {number} at @param {string} who */
export function tokenText(lane, at, who) {
  const record = lane.tokenAt(at);
  if (!record) return `${who}: ${WORDS.shorter}`;
  return `${who}: ${spoken(record, lane.model, Infinity)}; after ${duration(lane.times[at])}`;
}
