/** One visitor's dealings with the server: start, stop, lost streams, recordings, opened files. */

import { newName, readBase64 } from "../kit/files.js";
import { fileBefore, keepFile, keepPending } from "./pending.js";
import { FILES } from "../../../text/en/page.js";
import { heard } from "../../../text/heard.js";

const POLL_MS = 2000;
const FOLLOW_MS = 500; // of a run without a stream: the page was reloaded
const FIRST_MS = 15_000; // until a run's first sign: a busy server may take that long to hear of it

/** @typedef {{run: string, from: number, ev: any[], final: boolean, status: Record<string, any>}} Payload
 *    as app/kit/payload.py writes it
 *  @typedef {Record<string, (data: object) => Promise<any>>} Calls open_trace, simulate, stop, tail, offered, pace and long_text
 *  @typedef {{trigger: (event: string, data?: object) => void, call: Calls}} Ports to the server */

/** A bundled recording as its payload. @param {string} name @returns {Promise<Payload>} */
export async function recordsOf(name) {
  const reply = await fetch(new URL(`../../../../recordings/${encodeURIComponent(name)}`, import.meta.url));
  if (!reply.headers.get("content-type")?.includes("json")) throw new Error(FILES.notSent(reply.status));
  return reply.json();
}

/** Puts what the server says of a run into the page's language. @param {Payload} payload */
export function understand({ status }) {
  for (const part of ["text", "title", "detail"]) if (status[part]) status[part] = heard(status[part]);
}

export class Session {
  /** @param {Ports} ports
   *  @param {{onPayload: (payload: Payload) => void, held: (run: string) => number, kept?: string,
   *    unreached?: () => void}} ctx held: how many records of a run are here, Infinity where none are wanted; kept: by
   *    which name it is found after a reload; unreached: the server did not answer for a run that goes on */
  constructor({ trigger, call }, ctx) {
    this.trigger = trigger;
    this.call = call;
    this.ctx = ctx;
    /** @type {string|null} */ this.pending = null; // name of the run that was asked for and is not over
    this.started = false; // its first events arrived
    this.stopping = false;
    this.fetching = false; // weights are on their way
    this.heard = 0; // when its last payload came
    this._asked = 0; // when the run was asked for
    this._streamed = true; // whether its payloads come by themselves
    this._looking = false;
    this._turn = 0; // of what is asked for to be shown: the last one counts
    /** @type {ReturnType<typeof setInterval>|undefined} */ this._timer = undefined;
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this._look();
    });
    // The server tells by this that the page is closed, and not cut off. One that reloads itself comes back for its run.
    let reloads = false;
    /** @type {any} */ (globalThis).navigation?.addEventListener("navigate", (/** @type {any} */ event) => {
      reloads = event.navigationType === "reload";
    });
    addEventListener("pagehide", () => {
      if (!this.pending || reloads) return;
      const said = new Blob([JSON.stringify({ run: this.pending })], { type: "application/json" });
      navigator.sendBeacon(new URL("../../../../left", import.meta.url), said);
    });
  }

  get state() {
    if (!this.pending) return "idle";
    return this.stopping ? "stopping" : "busy";
  }

  /** Asks for a run. What the server says of it, its place in line first, comes as payloads. @param {object} request */
  start(request) {
    const run = newName();
    this._turn += 1;
    this._begin(run, true);
    this.trigger("generate", { ...request, run });
    this._timer = setInterval(() => this._look(), POLL_MS);
    return run;
  }

  /** Goes on with a run that was asked for before the page was reloaded; without a stream of it. @param {string} run */
  resume(run) {
    this._begin(run, false);
    this._timer = setInterval(() => this._look(), FOLLOW_MS);
  }

  /** @param {string} run @param {boolean} streamed */
  _begin(run, streamed) {
    this._end();
    this.pending = run;
    this._streamed = streamed;
    this.started = false;
    this.fetching = false;
    this.heard = 0;
    this._asked = performance.now();
    keepPending(run, this.ctx.kept);
  }

  /** Ends the run: at its next forward, or here and now if it has not begun. Resolves to whether it ended now. */
  async stop() {
    if (!this.pending || this.stopping) return false;
    if (!this.started) {
      await this.leave();
      return true;
    }
    this.stopping = true;
    try {
      await this.call.stop({ run: this.pending });
    } catch (error) {
      this._end();
      throw error;
    }
    return false;
  }

  /** Drops the pending run, which has not begun. */
  async leave() {
    const run = this.pending;
    if (!run) return;
    this._end();
    await this.call.stop({ run }).catch(() => {}); // a server that cannot be reached has no run to stop
  }

  /** A payload of the pending run came. @param {Payload} payload */
  hear(payload) {
    understand(payload);
    this.heard = performance.now();
    if (payload.ev.length) this.started = true;
    this.fetching = payload.status.stage === "download";
    if (payload.final) this._end();
  }

  /** @param {string} name */
  recording(name) {
    return this._show(recordsOf(name));
  }

  /** @param {File} file @param {number} limit bytes */
  async open(file, limit) {
    if (file.size > limit) throw new Error(FILES.tooLarge(limit / 2 ** 20));
    await this._show(readBase64(file).then((text) => this._opened(file.name, text)));
  }

  /** Shows a run that came inside a link. @param {string} base64 of a gzip file @param {string} name */
  unpack(base64, name) {
    return this._show(this._opened(name, base64));
  }

  /** @param {string} name @param {string} base64 @returns {Promise<Payload>} */
  async _opened(name, base64) {
    const run = newName();
    const payload = await this.call.open_trace({ name, base64, run });
    if (payload.run === run && payload.ev.length) keepFile(run, name, base64);
    return payload;
  }

  /** The file that was shown as this run before the page was reloaded; null where it is not kept. @param {string} run
   *  @returns {Promise<Payload|null>} */
  async reopened(run) {
    const kept = fileBefore(run);
    return kept && this.call.open_trace({ ...kept, run });
  }

  /** Plays a plan that nobody has weights for: {question, plan, seed}. @param {object} asked */
  simulate(asked) {
    return this._show(this.call.simulate({ ...asked, run: newName() }));
  }

  /** All of a run that the server knows. @param {string} run */
  again(run) {
    return this._show(this.call.tail({ run, from: 0 }));
  }

  /** Shows another run, unless something else was asked for since; the pending one goes on. @param {Promise<Payload>} coming */
  async _show(coming) {
    const turn = ++this._turn;
    const payload = await coming;
    if (turn === this._turn) this.ctx.onPayload(payload);
  }

  /** What is missing of a run, after a gap. @param {string} run */
  async catchUp(run) {
    const from = Math.min(this.ctx.held(run), Number.MAX_SAFE_INTEGER);
    this.ctx.onPayload(await this.call.tail({ run, from }));
  }

  _end() {
    clearInterval(this._timer);
    this.pending = null;
    this.stopping = false;
    keepPending(null, this.ctx.kept);
  }

  async _look() {
    const run = this.pending;
    // No sign may mean that the server measures, that the place in line is the same, or that the stream is lost.
    const quiet = this.heard
      ? performance.now() - this.heard > 2 * POLL_MS
      : performance.now() - this._asked > FIRST_MS;
    if (!run || this._looking || (this._streamed && !quiet)) return;
    this._looking = true;
    try {
      // Background tabs and sleeping phones lose the stream: the server still has what the run wrote until then.
      await this.catchUp(run);
    } catch {
      // The next look tries again; Stop ends the run here when the server does not answer.
      this.ctx.unreached?.();
    } finally {
      this._looking = false;
    }
  }
}
