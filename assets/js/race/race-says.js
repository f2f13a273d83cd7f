/** What is said of the lanes of a race: places, speed-ups with their intervals, texts beside the first lane's. */

import { h } from "../dom.js";
import { aheadText, gainText, intervalText, LANE, placeText, textWords, WORDS } from "../words/race.js";
import { dots } from "./repeats.js";

/**
 * @param {import("./lane-model.js").LaneModel[]} lanes @param {number} index @param {any} race as app/race/shown.py writes it
 * @returns {import("./lane.js").Says}
 */
export function raceSays(lanes, index, race) {
  const { row } = lanes[index];
  const { repeats } = race.race;
  const first = index === 0;
  const sampled = race.sampling.temperature > 0;
  return {
    mark: (over) => (over ? { text: placeText(row.place), place: String(row.place) } : { text: "", place: "" }),
    result: first
      ? [h("span", { class: "hx-race-range", text: WORDS.reference })]
      : [
          h("b", { class: "hx-race-gain", text: gainText(row.speed_up) }),
          h("span", { class: "hx-race-range", text: intervalText(row.interval) }),
          dots(repeats, index),
        ],
    tip: first ? null : repeats.length > 1 ? WORDS.speedUp : WORDS.speedUpOnce,
    late: !first,
    ahead: (t, tokens) => (first ? "" : aheadText(tokens - lanes[0].committedBy(t))),
    verdict: { text: textWords(row, first, sampled, LANE.nth(1)), kind: verdictKind(row, first, sampled) },
  };
}

function verdictKind(row, first, sampled) {
  if (first || sampled || !row.same) return "";
  if (!row.same.diverges) return "yes";
  return row.same.tie ? "tie" : "no";
}
