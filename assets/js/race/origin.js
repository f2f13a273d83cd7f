/** What stands below a race: the prompt, where and how it was measured, the command that races it again. */

import { h } from "../dom.js";
import { originLine, WORDS } from "../words/race.js";

/** @param {any} race as app/race/shown.py writes it */
export function originCard({ race, sampling, seed }) {
  const versions = Object.entries(race.versions ?? {}).map(([name, version]) => `${name} ${version}`);
  const drawn = sampling.temperature > 0 ? WORDS.sampled(sampling.temperature, sampling.top_p, seed) : WORDS.greedy;
  return h(
    "section",
    { class: "hx-panel hx-race-origin", "aria-label": WORDS.how },
    h("p", { class: "hx-race-asked" }, h("b", { text: `${WORDS.prompt}: ` }), race.prompt),
    h("p", {
      class: "hx-plan-text",
      text: `${originLine(race, race.repeats.length)}. ${drawn}. ${versions.join(", ")}.`,
    }),
    race.command ? h("code", { text: race.command }) : null,
  );
}
