/** How the story goes on: by itself from moment to moment, until somebody touches it; then a press plays a scene and waits
 *  at its end. With reduced motion nothing goes on by itself, and a press shows the next moment. */

/** @import {Moment} from "./scenes.js" */

const BROWSER = {
  wait: (/** @type {() => void} */ f, /** @type {number} */ ms) => setTimeout(f, ms),
  drop: (/** @type {any} */ id) => clearTimeout(id),
};

export class TellingClock {
  /** @param {Moment[]} moments
   *  @param {{show: (moment: Moment, from: Moment|null) => void, changed: () => void}} page show: another moment; from: the
   *    one that the words move there from; changed: it plays now, or no longer
   *  @param {{still: boolean, timer?: typeof BROWSER}} options still: reduced motion; timer: for tests */
  constructor(moments, page, { still, timer = BROWSER }) {
    this.moments = moments;
    this.page = page;
    this.still = still;
    this.timer = timer;
    this.at = 0;
    this.alone = false; // it goes on from scene to scene by itself
    /** @type {any} */ this._waiting = null; // for the next moment
  }

  get moment() {
    return this.moments[this.at];
  }

  get playing() {
    return this._waiting !== null;
  }

  /** Whether this is the last moment of its scene. */
  get ends() {
    return this.moments[this.at + 1]?.scene !== this.moment.scene;
  }

  get over() {
    return this.at === this.moments.length - 1;
  }

  /** From the beginning of a scene to the end of the story. @param {number} scene */
  begin(scene) {
    this.alone = !this.still;
    this._goTo(this.moments.findIndex((x) => x.scene === scene));
    if (!this.still) this._run();
  }

  /** The end of a scene, still. @param {number} scene */
  end(scene) {
    this._halt();
    this._goTo(this.moments.findLastIndex((x) => x.scene === scene));
  }

  /** Nothing goes on by itself any more. */
  pause() {
    this._halt();
    this.page.changed();
  }

  /** A press: pauses what goes on by itself, completes a scene that a press began, goes on from where it waits. */
  press() {
    if (this.still) return this.step(1);
    if (this.playing) return this.alone ? this.pause() : this.end(this.moment.scene);
    if (this.over) return;
    if (this.ends) this._goTo(this.at + 1, true);
    this._run();
  }

  /** One moment on or back. @param {1|-1} by */
  step(by) {
    this._halt();
    this._goTo(this.at + by, by > 0);
  }

  /** To the scene's beginning; from there, to the end of the one before it. */
  back() {
    if (this.still) return this.step(-1);
    this._halt();
    const first = this.moments.findIndex((x) => x.scene === this.moment.scene);
    this._goTo(this.at > first ? first : first - 1);
  }

  /** @param {number} at @param {boolean} [moves] */
  _goTo(at, moves = false) {
    const from = this.moment;
    this.at = Math.min(this.moments.length - 1, Math.max(0, at));
    this.page.show(this.moment, moves ? from : null);
    this.page.changed();
  }

  _run() {
    this._waiting = this.timer.wait(() => {
      this._waiting = null;
      if (!this.over && (!this.ends || this.alone)) this._goTo(this.at + 1, true);
      if (this.over || (this.ends && !this.alone)) this._halt();
      else this._run();
      this.page.changed();
    }, this.moment.lasts);
    this.page.changed();
  }

  _halt() {
    this.timer.drop(this._waiting);
    this._waiting = null;
    this.alone = false;
  }
}

// ---- The story's movements: a quarter of a second, easing out, then stillness. With reduced motion there are none.

const MS = 240;
const EASE = "cubic-bezier(0.2, 0.8, 0.2, 1)";

/** Whether the visitor wants none. */
export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Moves an element from where something else is, or was, to its place. @param {Element} el @param {DOMRect} from @param {number} delay ms */
export function fly(el, from, delay) {
  const to = el.getBoundingClientRect();
  if (still() || !to.width || !from.width) return;
  const scale = Math.min(2, from.height / to.height);
  const [x, y] = [from.left - to.left, from.top - to.top];
  const start = { transform: `translate(${x}px, ${y}px) scale(${scale})`, transformOrigin: "0 0" };
  el.animate([start, { transform: "none", transformOrigin: "0 0" }], {
    ...{ duration: MS, delay, easing: EASE, fill: "backwards" },
  });
}

/** Lets elements appear. @param {Element|Iterable<Element>} els @param {number} delay ms */
export function shown(els, delay) {
  if (still()) return;
  for (const el of els instanceof Element ? [els] : els)
    el.animate(
      [
        { opacity: 0, transform: "translateY(8px)" },
        { opacity: 1, transform: "none" },
      ],
      {
        ...{ duration: MS, delay, easing: EASE, fill: "backwards" },
      },
    );
}
