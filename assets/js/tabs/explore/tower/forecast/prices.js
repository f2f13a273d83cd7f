/** What stacks would cost by the theory: asked for once each, a while after the last change, the latest question alone. */

import { dependsOnLength } from "../../../../shared/levels/text-length.js";
import { words } from "../../../../../text/en/forecast.js";

const SETTLE_MS = 250;
const KEPT = 200; // answers; then they are asked for again

/** @typedef {{preset: string, device: string, temperature: number, length?: number|null, by_length?: boolean}} Where which
 *    profile is asked; length: tokens of text, for stacks whose price depends on it; by_length: all are priced at that length */
/** @typedef {{source: string, machine?: string, recorded?: string, compiled: boolean}|null} About where the profile was
 *    measured, and whether passes were onnxruntime's */
/** @typedef {{length?: number, extrapolated?: boolean, by_length?: {length: number, ms: Record<string, number>, speedup: number}[],
 *    pays_from?: number|null}} OverLengths of a stack with a view: at how many tokens of text, whether that is not between measured
 *    lengths, what is at those, and the first from which on it is faster than plain decoding */
/** @typedef {({ms: number, speedup: number, tokens: number, clock?: string, about: About}&OverLengths)|{reason: string, brief?: string, about: About}} Price
 *    clock: "reckoned" where levels work at the same time; brief: the reason without its cure */

export class Prices {
  /** @param {() => void} onNews */
  constructor(onNews) {
    this.onNews = onNews;
    /** @type {Map<string, Price>} */ this.known = new Map();
    /** @type {ReturnType<typeof setTimeout>|undefined} */ this._timer = undefined;
    /** @type {AbortController|null} */ this._asking = null;
    this._wanted = "";
  }

  /** @param {Where} where @param {string} stack */
  of(where, stack) {
    return this.known.get(key(where, stack)) ?? null;
  }

  /** Has the prices of these stacks fetched. @param {Where} where @param {string[]} stacks */
  ask(where, stacks) {
    const missing = [...new Set(stacks)].filter((stack) => !this.of(where, stack));
    const wanted = missing.map((stack) => key(where, stack)).join();
    if (wanted === this._wanted) return;
    this._wanted = wanted;
    clearTimeout(this._timer);
    if (missing.length) this._timer = setTimeout(() => this._fetch(where, missing), SETTLE_MS);
  }

  /** @param {Where} where @param {string[]} stacks */
  async _fetch(where, stacks) {
    this._asking?.abort();
    const asking = (this._asking = new AbortController());
    /** @type {any} */ let answer = null;
    try {
      const reply = await fetch(new URL("../../../../../../planner/price", import.meta.url), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...where, stacks }),
        signal: asking.signal,
      });
      answer = reply.ok || reply.status === 422 ? await reply.json() : null;
    } catch {
      if (asking.signal.aborted) return;
    }
    if (this.known.size > KEPT) this.known.clear();
    const failed = { reason: answer?.error ?? words.lost };
    stacks.forEach((stack, i) =>
      this.known.set(key(where, stack), { about: answer?.about ?? null, ...(answer?.prices?.[i] ?? failed) }),
    );
    this._wanted = "";
    this.onNews();
    // What failed may be asked for again at the next change.
    if (!answer?.prices) for (const stack of stacks) this.known.delete(key(where, stack));
  }
}

/** @param {Where} where @param {string} stack */
const key = ({ preset, device, temperature, length, by_length: all = false }, stack) =>
  JSON.stringify([preset, device, temperature, stack, all, all || dependsOnLength(stack) ? (length ?? null) : null]);
