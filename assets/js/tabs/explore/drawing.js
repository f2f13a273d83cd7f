/** When the first screen is drawn, and what of it: many changes make one drawing, and what nobody could read waits. */

import { drawn } from "../../shared/player/within-reach.js";

/** @import {Player} from "../../shared/player/player.js"
 *  @import {Feed, TraceModel as Model} from "../../shared/run/trace.js" */

/** @typedef {{selected: number|null, round: number|null}} View what somebody has singled out: a token by its serial, a round
 *  @typedef {{update: (model: Model, cursor: number, opts: Record<string, any>) => void}} Part
 *  @typedef {{title: {update: (model: Model, cursor: number, plain: boolean) => void}, tower: Part, charts: Part, lanes: Part, tally: Part,
 *    transport: Part, caption: Part, text: Part, card: Part,
 *    desk: {update: (model: Model, cursor: number) => void, view: () => Record<string, any>}}} Parts */

export class Drawing {
  /** @param {{root: HTMLElement, feed: Feed, player: Player,
   *    settings: Record<string, any>, view: View, parts: Parts, plain: () => boolean, place: {update: () => void}}} scene plain:
   *    whether plain decoding is measured now; place: where the address says that one is */
  constructor(scene) {
    this.scene = scene;
    this.haste = new Haste(scene.root, () => this.ask());
    this._frame = 0;
    /** @type {ReturnType<typeof setTimeout>|undefined} */ this._later = undefined;
    this._at = -1; // the cursor of the last one
  }

  /** Redraws at the next frame, or a little later in a live run whose rounds are quick; many changes make one drawing,
   *  and the first that does not wait takes along what does. */
  ask() {
    if (this._frame) return;
    const wait = this.scene.player.following ? this.haste.wait() : 0;
    if (wait > 0) this._later ??= setTimeout(() => this._soon(), wait);
    else this._soon();
  }

  _soon() {
    clearTimeout(this._later);
    this._later = undefined;
    this._frame ||= requestAnimationFrame(() => {
      this._frame = 0;
      this.now();
    });
  }

  now() {
    const { haste } = this;
    const { feed, player, settings, view, parts, plain, place } = this.scene;
    const { model } = feed;
    if (!model?.header) return;
    const { title, desk, tower, charts, lanes, tally, transport, caption, text, card } = parts;
    const { cursor, playing, following, moves } = player;
    const quick = cursor !== this._at && !playing;
    this._at = cursor;
    const due = !quick || haste.changed();
    const all = due || !following || model.footer !== null; // a step is exact, however quick
    desk.update(model, cursor);
    const opts = {
      colourBy: settings.colour,
      ghosts: settings.ghosts,
      pause: settings.pause,
      live: following,
      present: settings.present,
      moves,
      swift: haste.on,
      ...view,
      ...desk.view(),
    };
    title.update(model, cursor, plain());
    // The text asks for its own size and the card for that of others: what was written before is laid out once.
    for (const part of [...(all ? [tower, charts, lanes, tally] : []), transport, caption, text, card])
      part.update(model, cursor, opts);
    place.update();
    drawn();
  }
}

// ---- While what is shown changes several times a second, motion would begin again and again and never come to rest: none is
// asked for. What is read rather than watched is then drawn a few times a second, and exactly when all is at rest.

const QUICK_MS = 250; // two changes that are closer than this are quick ones
const READ_MS = 250; // what is read is drawn no more often than this while they are
const LIVE_MS = 90; // and all the rest no more often than this: more is not seen, and a live run shares its processor

export class Haste {
  /** @param {HTMLElement} root gets the class hx-swift
   *  @param {() => void} onRest called when the changes are quick no more */
  constructor(root, onRest) {
    this.root = root;
    this.onRest = onRest;
    this.on = false;
    this._last = -Infinity;
    this._read = -Infinity;
    /** @type {ReturnType<typeof setTimeout>|undefined} */ this._calm = undefined;
  }

  /** What is shown changes now (ms). Returns whether what is read is to be drawn, too. */
  changed(now = performance.now()) {
    const quick = now - this._last < QUICK_MS;
    this._last = now;
    if (quick) this._hurry();
    const due = !this.on || now - this._read >= READ_MS;
    if (due) this._read = now;
    return due;
  }

  /** How long (ms) the next drawing may wait. */
  wait(now = performance.now()) {
    return this.on ? this._last + LIVE_MS - now : 0;
  }

  _hurry() {
    if (!this.on) this.root.classList.add("hx-swift");
    this.on = true;
    clearTimeout(this._calm);
    this._calm = setTimeout(() => {
      this.on = false;
      this.root.classList.remove("hx-swift");
      this.onRest();
    }, 2 * QUICK_MS);
  }
}
