/** What is said of a race: of its lanes places, speed-ups with their intervals and texts; below it where it comes from. */

import { h } from "../../shared/kit/dom.js";
import { greedy } from "../../shared/levels/greedy.js";
import { percent } from "../../shared/run/spared.js";
import { LANE, SAID, WORDS } from "../../../text/en/race.js";
import { PRICE } from "../../../text/en/run.js";
import { svg } from "../../shared/kit/svg.js";

/** @import {Says} from "./replay/lane.js" @import {LaneModel, Race, Row, Took} from "./replay/lanes.js" */

const NO_PLACE = "-"; // of a lane on a reckoned clock

/** @param {LaneModel[]} lanes @param {number} index @param {Race} race @returns {Says} */
export function raceSays(lanes, index, race) {
  const [row, against] = [lanes[index], lanes[0]].map((lane) => /** @type {Row} */ (lane.row));
  const { repeats } = race.race;
  const first = index === 0;
  const [own, reference] = [row, against].map((one) => SAID.rate(one.tokens_per_s));
  const named = SAID.clocks([row.clock, against.clock]);
  const sampled = !greedy(race.sampling);
  return {
    mark: (over) =>
      over ? { text: SAID.place(row.place), place: String(row.place ?? NO_PLACE) } : { text: "", place: "" },
    result: first
      ? [h("span.hx-race-range", WORDS.reference)]
      : [
          h("b.hx-race-gain", SAID.gain(row.speed_up)),
          h("span.hx-race-range", [SAID.interval(row.interval), named].filter(Boolean).join(", ")),
          dots(repeats, index),
        ],
    tip: first
      ? null
      : [
          repeats.length > 1 ? WORDS.speedUp(own, reference, repeats.length) : WORDS.speedUpOnce(own, reference),
          row.place ? "" : WORDS.noPlace,
          [row, against].some(({ clock }) => clock === "reckoned") ? WORDS.otherClocks : "",
        ]
          .filter(Boolean)
          .join(". "),
    late: !first,
    ahead: (t, tokens) => (first ? "" : SAID.ahead(tokens - lanes[0].committedBy(t))),
    verdict: {
      text: [SAID.text(row, first, sampled, LANE.nth(1)), row.spared == null ? "" : PRICE.short(percent(row.spared))]
        .filter(Boolean)
        .join(", "),
      kind: verdictKind(row, first, sampled),
    },
  };
}

function verdictKind(/** @type {Row} */ row, /** @type {boolean} */ first, /** @type {boolean} */ sampled) {
  if (first || sampled || !row.same) return "";
  if (!row.same.diverges) return "yes";
  return row.same.tie ? "tie" : "no";
}

// A lane's speed-up in every repeat, as dots on one line, and the interval over all of them.

const WIDE = 120;
const HIGH = 16;

/** Each repeat's speed-up over the first lane. @param {Took[][]} repeats @param {number} lane */
export function gains(repeats, lane) {
  const rate = (/** @type {Took} */ took) => took.tokens / took.decode_ns;
  return repeats.map((took) => rate(took[lane]) / rate(took[0]));
}

/** @param {Took[][]} repeats what each lane took, repeat by repeat @param {number} lane */
export function dots(repeats, lane) {
  const all = repeats.map((_, i) => i);
  const everyone = repeats[0].flatMap((_, i) => (i ? gains(repeats, i) : []));
  const low = Math.min(1, ...everyone);
  const high = Math.max(1, ...everyone);
  const x = (/** @type {number} */ value) => 6 + ((value - low) / Math.max(0.05, high - low)) * (WIDE - 12);
  const own = gains(repeats, lane);
  const said = own.map(SAID.gain).join(", ");
  const plot = svg("svg.hx-race-dots", {
    viewBox: `0 0 ${WIDE} ${HIGH}`,
    role: "img",
    "aria-label": `${WORDS.repeats}: ${said}`,
  });
  svg("line.hx-race-one", { x1: x(1), x2: x(1), y1: 1, y2: HIGH - 1 }, plot);
  for (const i of all) svg("circle.hx-race-dot", { cx: x(own[i]).toFixed(1), cy: HIGH / 2, r: 3 }, plot);
  return h("span.hx-race-repeats", { "data-tip": `${WORDS.repeats}: ${said}` }, plot);
}

// What stands below a race: the prompt, where and how it was measured, the command that races it again.

/** @param {Race} race */
export function originCard({ race, sampling, seed, lanes }) {
  const versions = Object.entries(race.versions ?? {}).map(([name, version]) => `${name} ${version}`);
  const drawn = greedy(sampling) ? WORDS.greedy : WORDS.sampled(sampling.temperature, sampling.top_p, seed);
  return h("section.hx-panel.hx-race-origin", { "aria-label": WORDS.how }, [
    h("p.hx-race-asked", [h("b", `${WORDS.prompt}: `), race.prompt]),
    h(
      "p.hx-plan-text",
      `${SAID.origin(race, race.repeats.length, otherOrder(race, lanes))}. ${drawn}. ${versions.join(", ")}.`,
    ),
    race.command && h("code", race.command),
  ]);
}

/** Whether the lanes come in another order in the repeat that is replayed. @param {Race["race"]} race @param {{place: number|null}[]} lanes */
export function otherOrder(race, lanes) {
  const rates = race.repeats[race.shown].map((took) => took.tokens / took.decode_ns);
  const placed = rates.filter((_, i) => lanes[i].place !== null);
  return lanes.some(({ place }, i) => place !== null && place !== 1 + placed.filter((rate) => rate > rates[i]).length);
}
