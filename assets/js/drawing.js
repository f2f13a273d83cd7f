/** When the first screen is drawn, and what of it: many changes make one drawing, and what nobody could read waits. */

import { Haste } from "./haste.js";
import { drawn } from "./within-reach.js";

export class Drawing {
  /** @param {import("./stage.js").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.haste = new Haste(stage.root, () => this.ask());
    this._frame = 0;
    /** @type {ReturnType<typeof setTimeout>|undefined} */ this._later = undefined;
    this._at = -1; // the cursor of the last one
  }

  /** Redraws at the next frame, or a little later in a live run whose rounds are quick; many changes make one drawing,
   *  and the first that does not wait takes along what does. */
  ask() {
    if (this._frame) return;
    const wait = this.stage.player.following ? this.haste.wait() : 0;
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
    const { stage, haste } = this;
    const { settings, desk } = stage;
    const { model } = stage.feed;
    if (!model?.header) return;
    const { cursor, playing, following } = stage.player;
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
      swift: haste.on,
      ...stage.view,
      ...desk.view(),
    };
    stage.title.update(model, cursor, stage.shown?.phase === "plain");
    const { tower, lanes, tally, transport, caption, text, card } = stage;
    // The text asks for its own size and the card for that of others: what was written before is laid out once.
    for (const part of [...(all ? [tower, lanes, tally] : []), transport, caption, text, card])
      part.update(model, cursor, opts);
    stage.place.update();
    drawn();
  }
}
