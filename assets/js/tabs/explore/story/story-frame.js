/** What stands over the page: the pictures of the three scenes, the sentence of the moment, and what one can press. */

import { h, say } from "../../../shared/kit/dom.js";
import { roundPicture } from "./round-picture.js";
import { runPicture } from "./run-picture.js";
import { momentsOf } from "./scenes.js";
import { still } from "./motion.js";
import { TellingClock } from "./telling-clock.js";
import { STORY } from "../../../../text/en/story.js";
import { TITLE } from "../../../../text/en/page.js";

/**
 * @param {import("../../../shared/run/trace.js").TraceModel} model @param {number} place of the round, from 0
 * @param {{does: (what: string) => void, reached: (scene: number, last: boolean) => void}} page does: what is pressed;
 *   reached: a moment of that scene, the story's last one
 */
export function storyFrame(model, place, page) {
  const round = roundPicture(model, place);
  const run = runPicture(model);
  const says = h("p", { class: "hx-story-says", role: "status" });
  const press = (/** @type {string} */ what) => () => page.does(what);
  const button = (/** @type {string} */ name, /** @type {string} */ text, /** @type {string} */ what) =>
    h("button", { type: "button", class: `hx-story-button ${name}`, text, onclick: press(what) });
  const back = button("hx-story-back", STORY.back, "back");
  const on = h("button", {
    type: "button",
    class: "hx-story-button hx-story-on",
    onclick: () => page.does(clock.over ? "again" : "on"),
  });
  const explore = h(
    "button",
    { type: "button", class: "hx-story-explore", title: STORY.exploreTip, onclick: press("leave") },
    h("span", { text: STORY.explore }),
    h("span", { "aria-hidden": "true", text: "\u2192" }),
  );
  const scenes = STORY.scenes.map((name, i) =>
    h(
      "button",
      {
        type: "button",
        class: "hx-story-scene",
        "aria-label": STORY.scene(i + 1, name),
        onclick: press(String(i + 1)),
      },
      h("i", { "aria-hidden": "true" }),
      h("span", { text: name }),
    ),
  );
  const heading = h("h1", { text: TITLE.name });
  const source = h("p", { class: "hx-story-source", text: sourceOf(model) });
  const picture = h("div", { class: "hx-story-picture", "aria-hidden": "true" }, round.el, run.el);
  const keys = h("p", { class: "hx-story-keys" });
  keys.append(h("span", { text: STORY.keys }), h("span", { text: STORY.swipe }));
  const el = h(
    "div",
    { class: "hx-story", role: "dialog", "aria-modal": "true", "aria-label": STORY.name, tabindex: "-1" },
    h("header", { class: "hx-story-head" }, heading, h("div", { class: "hx-story-scenes" }, ...scenes)),
    picture,
    says,
    h("div", { class: "hx-story-foot" }, source, keys, h("div", { class: "hx-story-do" }, back, on, explore)),
  );

  const moments = momentsOf(model, place);
  let frame = 0;
  const clock = new TellingClock(moments, { show, changed }, { still: still() });

  /** @param {import("./scenes.js").Moment} moment @param {import("./scenes.js").Moment|null} from */
  function show(moment, from) {
    say(says, moment.says);
    el.dataset.scene = String(moment.scene);
    if (moment.scene === 3) run.show(moment.what === "ends" ? Infinity : 0);
    else round.show(moment, from);
    page.reached(moment.scene, clock.over);
  }

  function changed() {
    const { moment, playing, over, ends } = clock;
    say(on, playing ? STORY.pause : over ? STORY.again : ends || clock.still ? STORY.next : STORY.on);
    back.toggleAttribute("disabled", clock.at === 0);
    el.classList.toggle("hx-story-over", over);
    scenes.forEach((one, i) => {
      const own = moments.filter((x) => x.scene === i + 1);
      const share = moment.scene === i + 1 ? (own.indexOf(moment) + 1) / own.length : Number(moment.scene > i + 1);
      one.style.setProperty("--share", String(share));
      one.setAttribute("aria-current", moment.scene === i + 1 ? "step" : "false");
    });
    if (playing && moment.what === "runs" && !frame) race();
  }

  /** The two texts on their clock, for as long as that plays. */
  function race() {
    const began = performance.now();
    const tick = (/** @type {number} */ now) => {
      frame = 0;
      if (!clock.playing || clock.moment.what !== "runs") return;
      run.show(Math.max(0, now - began) * 1e6);
      frame = requestAnimationFrame(tick);
    };
    frame = requestAnimationFrame(tick);
  }

  return { el, clock };
}

/** Where and when it was recorded. @param {import("../../../shared/run/trace.js").TraceModel} model */
function sourceOf({ header, levels }) {
  const { label, device, dtype } = levels[levels.length - 1];
  const where = STORY.recorded(device.toUpperCase(), header?.machine ?? "", header?.recorded.slice(0, 10) ?? "");
  return `${label}, ${dtype}. ${where}`;
}
