/** The run that a lesson speaks of, and all else that it takes figures from. Its figures are of that run alone: until it is
 *  loaded there are none, whatever the page shows meanwhile. */

export class OwnRun {
  /** @param {{shows: (name: string) => boolean, feed: {model: any}, library: import("./library.js").Library}} ctx */
  constructor(ctx) {
    this.ctx = ctx;
    /** @type {any} */ this.model = null;
    /** @type {string|null} */ this.recording = null; // that the step speaks of
    /** @type {any} */ this.gathered = null; // the lesson whose other figures are at hand
  }

  /** Takes the run that the page shows, if it is the one of a step; whether it is. @param {string|null} recording of the step */
  take(recording) {
    if (recording !== this.recording) this.model = null;
    this.recording = recording;
    const own = !recording || this.ctx.shows(recording);
    if (own) this.model = this.ctx.feed.model;
    return own;
  }

  /** Fetches what else a lesson names. @param {any} lesson */
  async gather(lesson) {
    await this.ctx.library.gather(lesson);
    this.gathered = lesson;
  }

  /** Whether all is there that figures are taken from. @param {any} lesson */
  ready(lesson) {
    return this.gathered === lesson && (this.model !== null || !this.recording);
  }

  /** @returns {import("./figures/refs.js").Sources} */
  get sources() {
    const { recordings, reports } = this.ctx.library;
    return { model: this.model, recordings, reports };
  }

  /** What figures were filled in from, to tell when that is another. */
  get key() {
    return this.model ? `${this.model.version} ${this.model.header?.stack} ${this.recording}` : "";
  }
}
