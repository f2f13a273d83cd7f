/** The page's opening: one round of a real run, the same words without help, and the whole run in its measured time. It
 *  stands over the page before Gradio's is there, and whenever it is asked for: by its link in the title, or by the
 *  address (?story=1&scene=2), which follows it. */

import { cover, covered, onStoryAsked } from "../../../shared/kit/curtain.js";
import { learn } from "../../../shared/levels/kinds.js";
import { openTab, setQuery } from "../../../shared/kit/tabs.js";
import { TraceModel } from "../../../shared/run/trace.js";
import { SEEN } from "./asked.js";
import { hearKeys, hearTouches } from "./presses.js";
import { storyFrame } from "./story-frame.js";

/** @typedef {{round: number, ev: any[]}} Opening round: counted from 1; ev: the records of the run, without rows */

/** @type {Story|null} */ let only = null; // a page has one

/**
 * Gets the story ready, once, and tells it where the page is to open with it.
 * @param {{opening?: Opening|null, grammar?: any}} told by default what the page came with (app/serve/door/first.py)
 */
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

  /** @param {string} what as presses.js names it, or a scene's number */
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
