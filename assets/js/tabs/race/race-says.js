/** What is said of the lanes of a race: places, speed-ups with their intervals, texts beside the first lane's. */

import { h } from "../../shared/kit/dom.js";
import { greedy } from "../../shared/levels/greedy.js";
import {
  aheadText,
  clocksText,
  gainText,
  intervalText,
  LANE,
  placeText,
  rateText,
  textWords,
  WORDS,
} from "./words/race.js";
import { dots } from "./replay/repeats.js";

const NO_PLACE = "-"; // of a lane on a reckoned clock

/**
 * @param {import("./replay/lane-model.js").LaneModel[]} lanes @param {number} index @param {any} race as app/tabs/race/shown.py writes it
 * @returns {import("./replay/lane.js").Says}
 */
export function raceSays(lanes, index, race) {
  const { row } = lanes[index];
  const { repeats } = race.race;
  const first = index === 0;
  const [own, reference] = [row, lanes[0].row].map((one) => rateText(one.tokens_per_s));
  const named = clocksText([row.clock, lanes[0].row.clock]);
  const sampled = !greedy(race.sampling);
  return {
    mark: (over) =>
      over ? { text: placeText(row.place), place: String(row.place ?? NO_PLACE) } : { text: "", place: "" },
    result: first
      ? [h("span", { class: "hx-race-range", text: WORDS.reference })]
      : [
          h("b", { class: "hx-race-gain", text: gainText(row.speed_up) }),
          h("span", { class: "hx-race-range", text: [intervalText(row.interval), named].filter(Boolean).join(", ") }),
          dots(repeats, index),
        ],
    tip: first
      ? null
      : [
          repeats.length > 1 ? WORDS.speedUp(own, reference, repeats.length) : WORDS.speedUpOnce(own, reference),
          row.place ? "" : WORDS.noPlace,
          [row, lanes[0].row].some(({ clock }) => clock === "reckoned") ? WORDS.otherClocks : "",
        ]
          .filter(Boolean)
          .join(". "),
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
