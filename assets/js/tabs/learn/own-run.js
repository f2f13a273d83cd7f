/** The run that a step speaks of, and all else that its lesson takes figures from. Figures are of that run alone: until it
 *  is loaded there are none, whatever Explore shows meanwhile. */

export class OwnRun {
  /** @param {import("./library.js").Library} library */
  constructor(library) {
    this.library = library;
    /** @type {unknown} */ this.lesson = null;
    /** @type {string[]} */ this.recordings = []; // of the step: its own first, then those of its pictures
    /** @type {string[]|null} */ this.gathered = null; // what is at hand
  }

  /**
   * Fetches what a step needs; whether it is still the step that is open when all is there.
   * @param {unknown} lesson @param {string[]} recordings
   */
  async gather(lesson, recordings) {
    Object.assign(this, { lesson, recordings });
    await this.library.gather(lesson, recordings);
    if (this.recordings === recordings) this.gathered = recordings;
    return this.recordings === recordings;
  }

  /** Whether all is there that figures are taken from. */
  get ready() {
    return this.gathered === this.recordings && this.recordings.every((name) => this.library.recordings.has(name));
  }

  /** The run of a recording, the step's own by default; null until it is here. @param {string} [name] */
  model(name = this.recordings[0]) {
    return this.library.recordings.get(name ?? "") ?? null;
  }

  /** @returns {import("./figures/refs.js").Sources} */
  get sources() {
    const { recordings, reports } = this.library;
    return { model: this.model(), recordings, reports };
  }
}
