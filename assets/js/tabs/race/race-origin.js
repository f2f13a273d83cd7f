/** What stands below a race: the prompt, where and how it was measured, the command that races it again. */

import { h } from "../../shared/kit/dom.js";
import { greedy } from "../../shared/levels/greedy.js";
import { originLine, WORDS } from "./words/race.js";

/** @param {any} race as app/tabs/race/shown.py writes it */
export function originCard({ race, sampling, seed, lanes }) {
  const versions = Object.entries(race.versions ?? {}).map(([name, version]) => `${name} ${version}`);
  const drawn = greedy(sampling) ? WORDS.greedy : WORDS.sampled(sampling.temperature, sampling.top_p, seed);
  return h(
    "section",
    { class: "hx-panel hx-race-origin", "aria-label": WORDS.how },
    h("p", { class: "hx-race-asked" }, h("b", { text: `${WORDS.prompt}: ` }), race.prompt),
    h("p", {
      class: "hx-plan-text",
      text: `${originLine(race, race.repeats.length, otherOrder(race, lanes))}. ${drawn}. ${versions.join(", ")}.`,
    }),
    race.command ? h("code", { text: race.command }) : null,
  );
}

/** Whether the lanes come in another order in the repeat that is replayed. @param {any} race @param {{place: number|null}[]} lanes */
export function otherOrder(race, lanes) {
  const rates = race.repeats[race.shown].map((/** @type {any} */ took) => took.tokens / took.decode_ns);
  const placed = rates.filter((/** @type {number} */ _, /** @type {number} */ i) => lanes[i].place !== null);
  return lanes.some(
    ({ place }, i) =>
      place !== null && place !== 1 + placed.filter((/** @type {number} */ rate) => rate > rates[i]).length,
  );
}
