/** What the words of a round took, with the small levels and without: two bars of one scale, each part in its level's
 *  colour. */

import { h, say } from "../../../shared/kit/dom.js";
import { timeOf } from "../../../shared/levels/stated.js";
import { duration, restOf } from "../../../../text/numbers.js";
import { STORY } from "../../../../text/en/story.js";
import { plainTimeOf } from "./scenes.js";

/** @param {import("../../../shared/run/trace.js").TraceModel} model @param {import("../../../shared/anatomy/round.js").Round} round @param {import("./scenes.js").PlainWord[]} plain */
export function timeBars(model, round, plain) {
  const whole = plain.reduce((sum, word) => sum + word.ns, 0);
  const took = round.t1 - round.t0;
  const longest = Math.max(whole, took);
  const top = model.levels.length - 1;
  const part = (/** @type {number} */ level, /** @type {number} */ ns) => {
    const { hue, underline } = model.levels[level];
    return h("i", { "data-line": underline, style: { "--hue": hue, "--share": String(ns / longest) } });
  };
  const stack = bar(
    STORY.together,
    round.calls.map(({ segment }) => part(segment.level, segment.t1 - segment.t0)),
  );
  const around = restOf(
    round.calls.map(({ segment }) => (segment.t1 - segment.t0) / 1e6),
    took / 1e6,
  );
  const lone = bar(
    STORY.alone,
    plain.map(({ ns }) => part(top, ns)),
  );
  const el = h("div", { class: "hx-story-bars" }, lone.el, stack.el);
  say(stack.time, timeOf(model, round));
  stack.el.append(h("small", { class: "hx-story-around", text: STORY.around(around * 1e6) }));
  return {
    el,
    /** @param {import("./scenes.js").Moment} moment */
    show({ scene, nth }) {
      el.classList.toggle("hx-story-shown", scene === 2);
      lone.parts.forEach((one, i) => one.classList.toggle("hx-story-there", i < nth));
      say(lone.time, nth ? plainTimeOf(model, plain.slice(0, nth)) : "");
    },
  };
}

/** @param {string} name @param {HTMLElement[]} parts */
function bar(name, parts) {
  const time = h("b");
  const el = h("div", { class: "hx-story-bar" }, h("span", { text: name }), h("div", {}, ...parts), time);
  return { el, parts, time };
}
