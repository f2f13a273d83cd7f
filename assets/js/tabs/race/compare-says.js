/** What is said of two runs that are compared: how far their texts and the levels of their tokens agree. */

import { clockOf } from "../../shared/levels/overlap.js";
import { ofRun, stated } from "../../shared/levels/stated.js";
import { plainSpeed } from "../../shared/run/figures.js";
import { h } from "../../shared/kit/dom.js";
import { promptText } from "../../shared/run/prompt.js";
import { COMPARE, gainText, WORDS } from "./words/race.js";

/** @typedef {import("./replay/lane-model.js").LaneModel} LaneModel */

/**
 * @param {LaneModel} a @param {LaneModel} b
 * @returns {{equal: number, most: number, least: number, samePrompt: boolean, levels: boolean[]}} equal: leading tokens
 *   that are the same; levels: for each place that both texts have, whether levels of one kind supplied it
 */
export function likeness(a, b) {
  const least = Math.min(a.tokens, b.tokens);
  let equal = 0;
  while (equal < least && a.tokenAt(equal)?.id === b.tokenAt(equal)?.id) equal += 1;
  const kind = (/** @type {LaneModel} */ lane, /** @type {number} */ at) => {
    const level = lane.model.levels[lane.tokenAt(at)?.level ?? 0];
    return `${level?.letter} ${level?.kind}`;
  };
  const levels = Array.from({ length: least }, (_, at) => kind(a, at) === kind(b, at));
  const samePrompt = promptText(a.model).text === promptText(b.model).text;
  return { equal, most: Math.max(a.tokens, b.tokens), least, samePrompt, levels };
}

/**
 * @param {LaneModel[]} lanes @param {number} index
 * @returns {import("./replay/lane.js").Says}
 */
export function compareSays(lanes, index) {
  const lane = lanes[index];
  const { model } = lane;
  const plain = plainSpeed(model.baseline);
  const own = lane.finish ? lane.tokens / (lane.finish / 1e9) : null;
  const letter = COMPARE.letters[index];
  const gain = plain && own ? own / plain : null;
  return {
    mark: () => ({ text: letter, place: letter }),
    result: gain
      ? [
          h("b", { class: "hx-race-gain", text: stated("speed_up", ofRun(lane.model.header), gainText(gain)) }),
          h("span", { class: "hx-race-range", text: COMPARE.overPlain(clockOf(model.header)) }),
        ]
      : [h("span", { class: "hx-race-range", text: model.levels.length === 1 ? WORDS.plain : COMPARE.noPlain })],
    tip: COMPARE.gainTip,
    late: false,
    ahead: () => model.header?.recorded?.slice(0, 10) ?? "",
    verdict: { text: COMPARE.text(likeness(lanes[0], lanes[1]), index), kind: "" },
  };
}

/** The row below both: where their tokens came from levels of different kinds. @param {LaneModel[]} lanes */
export function differences(lanes) {
  const found = likeness(lanes[0], lanes[1]);
  const { levels, most, least } = found;
  const paint = levels.map((same, at) => {
    const hue = same ? "transparent" : "var(--ink)";
    return `${hue} ${((100 * at) / least).toFixed(3)}% ${((100 * (at + 1)) / least).toFixed(3)}%`;
  });
  const strip = h("i", {
    class: "hx-race-paint",
    style: { background: `linear-gradient(to right, ${paint.join(", ") || "transparent, transparent"})` },
  });
  const different = levels.filter((same) => !same).length;
  return h(
    "li",
    { class: "hx-race-row hx-race-differ" },
    h("span", {}),
    h("div", { class: "hx-race-who" }, h("h3", { class: "hx-race-name", text: COMPARE.differ })),
    h(
      "div",
      { class: "hx-race-way" },
      h(
        "div",
        { class: "hx-race-track", "aria-hidden": "true", style: { "--length": String(least / most) } },
        h("div", { class: "hx-race-course" }, strip),
      ),
      h("span", { class: "hx-race-count", text: `${different}\u2009/\u2009${least}` }),
    ),
    h("p", { class: "hx-race-differ-words", text: COMPARE.differWords(different, least) }),
  );
}
