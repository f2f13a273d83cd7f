/** When the first screen is drawn, and what of it: many changes make one drawing, and what nobody could read waits. */

import { Haste } from "./haste.js";
import { drawn } from "../../shared/player/within-reach.js";

/**
 * @typedef {import("../../shared/run/trace.js").TraceModel} Model
 * @typedef {{selected: number|null, round: number|null}} View what somebody has singled out: a token by its serial, a round
 * @typedef {{update: (model: Model, cursor: number, opts: Record<string, any>) => void}} Part
 * @typedef {{title: {update: (model: Model, cursor: number, plain: boolean) => void}, tower: Part, charts: Part, lanes: Part, tally: Part,
 *   transport: Part, caption: Part, text: Part, card: Part,
 *   desk: {update: (model: Model, cursor: number) => void, view: () => Record<string, any>}}} Parts
 */

export class Drawing {
  /**
   * @param {{root: HTMLElement, feed: import("../../shared/visit/feed.js").Feed, player: import("../../shared/player/player.js").Player,
   *   settings: Record<string, any>, view: View, parts: Parts, plain: () => boolean, place: {update: () => void}}} scene plain:
   *   whether plain decoding is measured now; place: where the address says that one is
   */
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
