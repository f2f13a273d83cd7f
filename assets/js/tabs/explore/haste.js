/** While what is shown changes several times a second, motion would begin again and again and never come to rest: none is
 *  asked for. What is read rather than watched is then drawn a few times a second, and exactly when all is at rest. */

const QUICK_MS = 250; // two changes that are closer than this are quick ones
const READ_MS = 250; // what is read is drawn no more often than this while they are
const LIVE_MS = 90; // and all the rest no more often than this: more is not seen, and a live run shares its processor

export class Haste {
  /**
   * @param {HTMLElement} root gets the class hx-swift
   * @param {() => void} onRest called when the changes are quick no more
   */
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
