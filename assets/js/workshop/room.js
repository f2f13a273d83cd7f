/** A browser's dealings with the room of a class: coming in, hearing of it, and what it says there. Each answer of the
 *  server is whole and held back until there is news: who slept, or lost the network, asks again. */

import { heard } from "../../text/heard.js";

const HELD_MS = 40_000; // the server answers within 25 s
const LONGEST_PAUSE_MS = 15_000;

/** What the server tells, as app/workshop/room.py writes it.
 *  @typedef {{lesson: string, step: number, total: number, counts?: number[],
 *    bins?: {from: number|null, to: number|null, count: number}[]}} Tally
 *  @typedef {{lesson: string, step: number, answers: number[]}} Given answers: places of choices, or estimates, ascending
 *  @typedef {{version: string, leads: boolean, sent: {at: string, number: number}|null, led: boolean, bars: Tally|null,
 *    code?: string, address?: string, here?: number, keeps?: boolean, tallies?: Tally[]}} Told */

/** What the server refused. */
export class Refusal extends Error {
  /** @param {number} status @param {{error?: string, retry?: number}} said */
  constructor(status, { error = "", retry = 0 }) {
    super(heard(error));
    this.status = status;
    this.retry = retry; // s
  }
}

export class Room {
  /** @param {string} url of the room
   *  @param {{onTold: (told: Told) => void, onOut: () => void, onLost: () => void}} ctx onOut: it is not in the room;
   *    onLost: the server does not answer
   *  @param {{ask?: typeof fetch, pause?: (ms: number) => Promise<void>, seen?: () => Promise<void>}} [world] pause:
   *    resolves later; seen: once the page is in sight */
  constructor(url, ctx, { ask = (...asked) => fetch(...asked), pause = wait, seen = inSight } = {}) {
    this.url = url;
    this.ctx = ctx;
    this.world = { ask, pause, seen };
    this.version = "";
    this.lost = 0; // answers in a row that did not come
    this._in = false;
    this._turn = 0; // of listening: the last one counts
  }

  /** Comes in, and hears of the room from then on. @param {{code: string}|{key: string}} secret */
  async enter(secret) {
    await this.say("enter", secret);
    void this.listen();
  }

  /** Hears of the room until it is no longer in it. */
  async listen() {
    const turn = ++this._turn;
    const { pause, seen } = this.world;
    this.version = "";
    while (turn === this._turn) {
      await seen(); // a page behind others keeps no connection
      try {
        const told = await this._ask(`now?seen=${encodeURIComponent(this.version)}`);
        if (turn !== this._turn) return;
        const back = this.lost > 0;
        this.lost = 0;
        if (told.version === this.version && !back) continue;
        this.version = told.version;
        this.ctx.onTold(told);
      } catch (error) {
        if (turn !== this._turn) return;
        if (error instanceof Refusal && error.status === 403) return this.ctx.onOut();
        this.lost += 1;
        this.ctx.onLost();
        const retry = error instanceof Refusal ? 1000 * error.retry : 0;
        await pause(Math.max(retry, Math.min(LONGEST_PAUSE_MS, 500 * 2 ** this.lost)) * (0.75 + Math.random() / 2));
      }
    }
  }

  /** All answers, for the instructor alone. @returns {Promise<{answers: Given[]}>} */
  answers() {
    return this._ask("answers");
  }

  /** @param {string} what @param {object} data @returns {Promise<any>} */
  say(what, data) {
    const headers = { "content-type": "application/json" };
    return this._ask(what, { method: "POST", headers, body: JSON.stringify(data) });
  }

  /** @param {string} path @param {RequestInit} [options] @returns {Promise<any>} */
  async _ask(path, options = {}) {
    const signal = AbortSignal.timeout(HELD_MS);
    const reply = await this.world.ask(`${this.url}/${path}`, { cache: "no-store", signal, ...options });
    const json = reply.headers.get("content-type")?.includes("json");
    const said = json ? await reply.json() : { error: (await reply.text()).trim() };
    if (!reply.ok) throw new Refusal(reply.status, said);
    return said;
  }
}

/** @param {number} ms @returns {Promise<void>} */
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @returns {Promise<void>} */
function inSight() {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    document.addEventListener("visibilitychange", function look() {
      if (document.hidden) return;
      document.removeEventListener("visibilitychange", look);
      resolve();
    });
  });
}
