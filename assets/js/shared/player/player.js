/** Playback over engine time. The cursor is in ns on the engine's clock; speed 1 is as fast as it was.
 *   Three modes: playing (the cursor runs), following (a live run: the cursor is its end) and resting. Frames are
 *   asked for only while playing. With reduced motion the cursor moves a round at a time instead of a frame at a time. */

import { upTo } from "../kit/order.js";

const STEPS = [1, 2, 5]; // of each power of ten: the next one is 2.5 times as fast at most
export const SPEEDS = Object.freeze([-2, -1, 0, 1].flatMap((e) => STEPS.map((x) => Number(`${x}e${e}`))));
const LASTS_S = /** @type {[number, number]} */ ([5, 15]); // of a replay at the speed that is chosen for it

/** The speed at which so many ns last that long, or nearly; the engine's own if it does.
 *  @param {number} ns @param {[number, number]} within s */
export function paceOf(ns, [shortest, longest] = LASTS_S) {
  const lasts = (/** @type {number} */ speed) => ns / 1e9 / speed;
  /** @param {number} speed */
  const misses = (speed) => Math.max(0, Math.log(shortest / lasts(speed)), Math.log(lasts(speed) / longest));
  if (!(ns > 0) || !misses(1)) return 1;
  // Of two that fit, the one nearer to the engine's own.
  return [...SPEEDS].sort((a, b) => misses(a) - misses(b) || Math.abs(Math.log(a)) - Math.abs(Math.log(b)))[0];
}

const BROWSER = {
  now: () => performance.now(),
  frame: (/** @type {() => void} */ f) => requestAnimationFrame(f),
  cancel: (/** @type {number} */ id) => cancelAnimationFrame(id),
};

/** @typedef {{end: number, rounds?: {t0: number}[], marks: {t: number, kind: string}[], commitTimes: number[]}} Played a run, or several */

export class Player {
  /** @param {(cursor: number, player: Player) => void} onCursor called when the cursor or the mode changes
   *  @param {{reduced?: boolean, clock?: typeof BROWSER, lasts?: [number, number]}} [options] reduced: a round at a
   *    time; clock: for tests; lasts: s that a replay is to take */
  constructor(onCursor, { reduced = prefersStillness(), clock = BROWSER, lasts = LASTS_S } = {}) {
    this._lasts = lasts;
    this.onCursor = onCursor;
    this.reduced = reduced;
    this.clock = clock;
    /** @type {Played|null} */ this.model = null;
    this.cursor = 0;
    this.moves = 0; // how often somebody has put the cursor into another place
    this.playing = false;
    this.following = false;
    this._speed = 1;
    this._chosen = false; // by a person, for the run that is shown
    /** @type {number|null} */ this._stop = null; // where a step ends
    /** @type {((t: number) => number)|null} */ this.reading = null; // ms that it rests at a rejection (ns); null: it runs on
    this._rested = 0; // until when, on the clock; 0: it runs
    this._from = 0; // the clock and
    this._base = 0; // the cursor when playing began
    this._frame = 0;
  }

  get end() {
    return this.model?.end ?? 0;
  }

  /** Whether the replay rests at a rejection, to run on by itself. */
  get resting() {
    return this._rested > 0;
  }

  get speed() {
    return this._speed;
  }

  set speed(value) {
    this._anchor();
    this._speed = value;
    this._chosen = true;
    this._tell();
  }

  /** Where playing begins: prefill is over. The slider reaches what is before it. */
  get start() {
    return this.model?.rounds?.[0]?.t0 ?? 0;
  }

  /** A recorded run, from its first round, at rest. @param {Played|null} model */
  attach(model) {
    this._rest();
    this.model = model;
    this._chosen = false;
    this._pace();
    this.cursor = this.start;
    this._tell();
  }

  /** A run in progress: the cursor is its end until somebody seeks. @param {Played} model */
  live(model) {
    this._rest();
    this.model = model;
    this._chosen = false;
    this._speed = 1;
    this.following = true;
    this.cursor = this.end;
    this._tell();
  }

  /** The model has grown. */
  grow() {
    if (this.following) this.cursor = this.end;
    this._tell();
  }

  /** Goes back to the end of a live run. */
  follow() {
    this._rest();
    this.moves += 1;
    this.following = true;
    this.cursor = this.end;
    this._tell();
  }

  /** Plays to the end, or to `until` (ns). At the end it starts again. @param {number|null} until */
  play(until = null) {
    if (!this.model) return;
    if (until === null && this.cursor >= this.end) {
      this._pace();
      this.cursor = this.start;
      this.moves += 1;
    }
    this.following = false;
    this.playing = true;
    this._rested = 0;
    this._stop = until;
    this._anchor();
    this.clock.cancel(this._frame);
    this._frame = this.clock.frame(() => this._tick());
    this._tell();
  }

  pause() {
    this._rest();
    this._tell();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  seek(/** @type {number} */ ns) {
    this.moves += 1;
    this.following = false;
    this._stop = null;
    this._rested = 0;
    this.cursor = Math.min(Math.max(0, ns), this.end);
    this._anchor();
    this._tell();
  }

  /** One round on or back. On the way on it first stops at each rejection, so that it can be looked at. */
  step(/** @type {number} */ direction) {
    this._rest();
    const marks = this.model?.marks ?? [];
    const stops = marks.filter((m) => m.kind === "commit" || (direction > 0 && m.kind === "reject"));
    this._jump(stops, direction);
  }

  /** To the next, or the last, draft, verdict or commit. @param {number} direction */
  stepEvent(direction) {
    this._rest();
    this._jump(this.model?.marks ?? [], direction);
  }

  destroy() {
    this._rest();
    this.model = null;
  }

  _jump(/** @type {{t: number}[]} */ stops, /** @type {number} */ direction) {
    if (direction > 0) {
      const next = stops[upTo(stops, this.cursor, (m) => m.t)];
      this.seek(next ? next.t : this.end);
    } else {
      const before = stops[upTo(stops, this.cursor - 1, (m) => m.t) - 1];
      this.seek(before ? before.t : 0);
    }
  }

  _tick() {
    if (!this.playing || this._rests()) return;
    const since = this.clock.now() - this._from;
    const last = Math.min(this._stop ?? Infinity, this.end);
    const limit = Math.min(last, this.reading ? this._rejection() : Infinity);
    const now = Math.min(this._base + since * 1e6 * this._speed, limit);
    const shown = this.reduced && now < limit ? this._roundBefore(now) : now;
    const done = now >= last;
    if (done) this._rest();
    else if (now >= limit) this._linger(limit);
    else this._frame = this.clock.frame(() => this._tick());
    if (shown !== this.cursor || done) {
      this.cursor = shown;
      this._tell();
    }
  }

  /** Rests at a rejection for as long as it takes to read about it. @param {number} t ns */
  _linger(t) {
    this.cursor = t;
    this._rested = this.clock.now() + (this.reading?.(t) ?? 0);
    this._frame = this.clock.frame(() => this._tick());
    this._tell();
  }

  /** Whether it still rests; when that is over it runs on from where it is. */
  _rests() {
    if (!this._rested) return false;
    const over = !this.reading || this.clock.now() >= this._rested;
    if (over) {
      this._rested = 0;
      this._anchor();
    } else this._frame = this.clock.frame(() => this._tick());
    return !over;
  }

  /** When the next token is rejected, ns. */
  _rejection() {
    const marks = this.model?.marks ?? [];
    for (let i = upTo(marks, this.cursor, (m) => m.t); i < marks.length; i++)
      if (marks[i].kind === "reject") return marks[i].t;
    return Infinity;
  }

  _roundBefore(/** @type {number} */ t) {
    const commits = this.model?.commitTimes ?? [];
    return Math.max(this._base, commits[upTo(commits, t, (x) => x) - 1] ?? 0);
  }

  _pace() {
    if (!this._chosen) this._speed = paceOf(this.end - this.start, this._lasts);
  }

  _anchor() {
    this._from = this.clock.now();
    this._base = this.cursor;
  }

  _rest() {
    this.playing = false;
    this.following = false;
    this._stop = null;
    this._rested = 0;
    this.clock.cancel(this._frame);
  }

  _tell() {
    this.onCursor(this.cursor, this);
  }
}

function prefersStillness() {
  return globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches ?? false;
}
