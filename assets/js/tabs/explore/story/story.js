/** The page's opening: one round of a real run, the same words without help, and the whole run in its measured time. It
 *  stands over the page before Gradio's is there, and whenever it is asked for: by its link in the title, or by the
 *  address (?story=1&scene=2), which follows it. */

import { cover, covered, onStoryAsked } from "../../../shared/kit/curtain.js";
import { h, say } from "../../../shared/kit/dom.js";
import { openTab, setQuery } from "../../../shared/kit/tabs.js";
import { learn } from "../../../shared/levels/kinds.js";
import { TraceModel } from "../../../shared/run/trace.js";
import { SEEN } from "./asked.js";
import { TellingClock, still } from "./telling-clock.js";
import { roundPicture } from "./round-picture.js";
import { runPicture } from "./run-picture.js";
import { momentsOf } from "./scenes.js";
import { TITLE } from "../../../../text/en/page.js";
import { STORY } from "../../../../text/en/story.js";

/** @import {Moment} from "./scenes.js" */

/** @typedef {{round: number, ev: any[]}} Opening round: counted from 1; ev: the records of the run, without rows */

/** @type {Story|null} */ let only = null; // a page has one

/** Gets the story ready, once, and tells it where the page is to open with it.
 *  @param {{opening?: Opening|null, grammar?: any}} told by default what the page came with (app/serve/door/first.py) */
export function tellStory(told = JSON.parse(document.getElementById("hx-story")?.textContent ?? "null") ?? {}) {
  if (only) return;
  if (!told.opening) return void (covered() && cover(false));
  learn(told.grammar);
  only = new Story(told.opening);
  if (covered()) only.open(false);
}

class Story {
  /** @param {Opening} opening */
  constructor(opening) {
    this.opening = opening;
    /** @type {ReturnType<typeof storyFrame>|null} */ this.frame = null; // while it stands over the page
    hearKeys(
      () => this.frame !== null,
      (what) => this.does(what),
    );
    onStoryAsked(() => {
      history.pushState(history.state, "", `${location.pathname}${bare()}`);
      this.open(false);
    });
    addEventListener("popstate", () => {
      if (asked() === 0) return this._hide();
      if (this.frame) this.frame.clock.end(asked());
      else this.open(true);
    });
  }

  /** Stands over the page; plays, or shows the end of its scene. @param {boolean} still */
  open(still) {
    cover(true);
    const model = new TraceModel();
    model.append(this.opening.ev);
    this.frame = storyFrame(model, this.opening.round - 1, {
      does: (what) => this.does(what),
      reached: (scene, last) => this._reached(scene, last),
    });
    const { el, clock } = this.frame;
    hearTouches(el, (what) => this.does(what));
    document.body.append(el);
    el.focus({ preventScroll: true });
    still ? clock.end(asked() || 1) : clock.begin(asked() || 1);
  }

  /** @param {string} what as `presses` names it, or a scene's number */
  does(what) {
    const { clock } = this.frame ?? {};
    if (!clock) return;
    const before = clock.moment.scene;
    if (what === "leave" || (what === "on" && clock.over)) return this.leave();
    if (what === "on") clock.press();
    else if (what === "back") clock.back();
    else if (what === "again") clock.begin(1);
    else if (what === "step") clock.step(1);
    else if (what === "unstep") clock.step(-1);
    else if (what === "touch") clock.pause();
    else clock.begin(Number(what));
    if (clock.moment.scene !== before) this._pushed(clock.moment.scene);
  }

  /** Goes on to Explore, which takes the focus. */
  leave() {
    seen();
    history.pushState(history.state, "");
    setQuery({ story: null, scene: null });
    this._hide();
    openTab("explore");
  }

  _hide() {
    this.frame?.clock.pause();
    this.frame?.el.remove();
    this.frame = null;
    if (covered()) cover(false);
  }

  /** A press led to another scene: the history has an entry for the one before. @param {number} scene */
  _pushed(scene) {
    const here = asked();
    setQuery(address(here));
    history.pushState(history.state, "");
    setQuery(address(scene));
  }

  /** @param {number} scene @param {boolean} last whether the story is over */
  _reached(scene, last) {
    if (last) seen();
    if (this.frame?.clock.alone || !asked()) setQuery(address(scene));
  }
}

/** The scene that the address asks for; 0 where it asks for no story. */
function asked() {
  const query = new URLSearchParams(location.search);
  if (query.get("story") !== "1") return 0;
  return [2, 3].find((scene) => query.get("scene") === String(scene)) ?? 1;
}

/** The address of the story alone, with what the host needs. */
function bare() {
  const query = [...new URLSearchParams(location.search)].filter(([name]) => name.startsWith("__"));
  return `?${new URLSearchParams([...query, ["story", "1"]])}`;
}

/** @param {number} scene */
const address = (scene) => ({ story: "1", scene: scene > 1 ? String(scene) : null });

function seen() {
  try {
    localStorage.setItem(SEEN, "1");
  } catch {
    // A browser that keeps nothing shows it again.
  }
}

// ---- What a visitor presses, scrolls or swipes while the story stands over the page, as words of the story: "on", "back",
// "step", "unstep", "leave", "touch". Its keys are its own: the page below hears none of them.

/** @type {Record<string, string>} */
const KEYS = {
  ...{ " ": "on", ArrowRight: "on", ArrowDown: "on", PageDown: "on", Enter: "on" },
  ...{ ArrowLeft: "back", ArrowUp: "back", PageUp: "back", Backspace: "back", Escape: "leave", Tab: "touch" },
};
const SWIPE = 40; // px
const SCROLL = 30; // px of a wheel
const REST_MS = 600; // until a wheel that still turns counts again

/** What a key means; null for one that is the browser's.
 *  @param {{key: string, shiftKey: boolean, altKey: boolean, ctrlKey: boolean, metaKey: boolean}} event */
export function meaning({ key, shiftKey, altKey, ctrlKey, metaKey }) {
  if (altKey || ctrlKey || metaKey) return null;
  if (shiftKey && key === "ArrowRight") return "step";
  if (shiftKey && key === "ArrowLeft") return "unstep";
  return KEYS[key] ?? "";
}

/** Listens to keys for as long as the page lives, before any other part of it.
 *  @param {() => boolean} open @param {(what: string) => void} does */
export function hearKeys(open, does) {
  addEventListener(
    "keydown",
    (event) => {
      const what = open() ? meaning(event) : null;
      if (what === null) return;
      event.stopImmediatePropagation();
      const presses = event.target instanceof HTMLButtonElement && (event.key === " " || event.key === "Enter");
      if (!what || presses) return; // a button is pressed by the browser
      if (what !== "touch") event.preventDefault();
      if (!event.repeat) does(what);
    },
    { capture: true },
  );
}

/** Listens to the wheel and to touches on the story. @param {HTMLElement} el @param {(what: string) => void} does */
export function hearTouches(el, does) {
  let turned = -Infinity; // when the wheel last turned
  el.addEventListener(
    "wheel",
    (event) => {
      if (el.scrollHeight > el.clientHeight + 1 || event.ctrlKey) return; // it scrolls, or zooms
      event.preventDefault();
      const rested = event.timeStamp - turned > REST_MS;
      if (!rested || Math.abs(event.deltaY) < SCROLL) return;
      turned = event.timeStamp;
      does(event.deltaY > 0 ? "on" : "back");
    },
    { passive: false },
  );
  /** @type {Touch|null} */ let from = null;
  el.addEventListener("touchstart", (event) => (from = event.touches.length === 1 ? event.touches[0] : null), {
    passive: true,
  });
  el.addEventListener("touchend", (event) => {
    const to = event.changedTouches[0];
    if (!from || !to) return;
    const [x, y] = [to.clientX - from.clientX, to.clientY - from.clientY];
    from = null;
    if (Math.max(Math.abs(x), Math.abs(y)) < SWIPE) return;
    event.preventDefault(); // no click of it
    does((Math.abs(x) > Math.abs(y) ? x : y) < 0 ? "on" : "back");
  });
  el.addEventListener("click", (event) => {
    if (!(event.target instanceof Element && event.target.closest("button"))) does("on");
  });
}

// ---- What stands over the page: the pictures of the three scenes, the sentence of the moment, and what one can press.

/** @param {TraceModel} model @param {number} place of the round, from 0
 *  @param {{does: (what: string) => void, reached: (scene: number, last: boolean) => void}} page does: what is pressed;
 *    reached: a moment of that scene, the story's last one */
export function storyFrame(model, place, page) {
  const round = roundPicture(model, place);
  const run = runPicture(model);
  const says = h("p.hx-story-says", { role: "status" });
  const press = (/** @type {string} */ what) => () => page.does(what);
  const button = (/** @type {string} */ name, /** @type {string} */ text, /** @type {string} */ what) =>
    h("button.hx-story-button", { class: name, text, onclick: press(what) });
  const back = button("hx-story-back", STORY.back, "back");
  const on = h("button.hx-story-button.hx-story-on", { onclick: () => page.does(clock.over ? "again" : "on") });
  const explore = h("button.hx-story-explore", { title: STORY.exploreTip, onclick: press("leave") }, [
    h("span", STORY.explore),
    h("span", { "aria-hidden": "true", text: "\u2192" }),
  ]);
  const scenes = STORY.scenes.map((name, i) =>
    h("button.hx-story-scene", { "aria-label": STORY.scene(i + 1, name), onclick: press(String(i + 1)) }, [
      h("i", { "aria-hidden": "true" }),
      h("span", name),
    ]),
  );
  const heading = h("h1", TITLE.name);
  const source = h("p.hx-story-source", sourceOf(model));
  const picture = h("div.hx-story-picture", { "aria-hidden": "true" }, [round.el, run.el]);
  const keys = h("p.hx-story-keys");
  keys.append(h("span", STORY.keys), h("span", STORY.swipe));
  const el = h("div.hx-story", { role: "dialog", "aria-modal": "true", "aria-label": STORY.name, tabindex: "-1" }, [
    h("header.hx-story-head", [heading, h("div.hx-story-scenes", scenes)]),
    picture,
    says,
    h("div.hx-story-foot", [source, keys, h("div.hx-story-do", [back, on, explore])]),
  ]);

  const moments = momentsOf(model, place);
  let frame = 0;
  const clock = new TellingClock(moments, { show, changed }, { still: still() });

  /** @param {Moment} moment @param {Moment|null} from */
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

/** Where and when it was recorded. @param {TraceModel} model */
function sourceOf({ header, levels }) {
  const { label, device, dtype } = levels[levels.length - 1];
  const where = STORY.recorded(device.toUpperCase(), header?.machine ?? "", header?.recorded.slice(0, 10) ?? "");
  return `${label}, ${dtype}. ${where}`;
}
