/** What the server says against stacks: asked for once each, a moment after the last change. Until an answer comes, the
 *  last one stands for the levels that it spoke of. */

const SETTLE_MS = 80;
const KEPT = 200; // answers; then they are asked for again

/** @typedef {{level: number, reason: string}} Fault level: its place in the stack, cheapest first */

export class Faults {
  /** @param {() => void} onNews */
  constructor(onNews) {
    this.onNews = onNews;
    /** @type {Map<string, Fault[]>} */ this.known = new Map();
    /** @type {Map<object, string>} */ this.last = new Map(); // of the last answer: why, by the level
    this._wanted = "";
    /** @type {Promise<void>} */ this.settled = Promise.resolve(); // when what was asked last is answered
  }

  /** What speaks against these levels, as far as it is known. @param {string} stack @param {object[]} levels */
  of(stack, levels) {
    const known = this.known.get(stack);
    if (known) this.last = new Map(known.map(({ level, reason }) => [levels[level], reason]));
    return this.last;
  }

  /** Has a stack looked at. @param {string} stack */
  ask(stack) {
    if (stack === this._wanted) return;
    this._wanted = stack;
    if (!this.known.has(stack)) this.settled = this._fetch(stack);
  }

  /** @param {string} stack */
  async _fetch(stack) {
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    if (stack !== this._wanted) return; // another one was asked for since
    const query = new URLSearchParams({ stack });
    const reply = await fetch(new URL(`../../../../../planner/faults?${query}`, import.meta.url)).catch(() => null);
    const found = reply?.ok ? await reply.json().catch(() => null) : null;
    if (this.known.size > KEPT) this.known.clear();
    if (found) this.known.set(stack, found.faults);
    if (stack !== this._wanted) return;
    // Without an answer nothing is held against it: Generate asks again, and so does the next change.
    if (!found) [this._wanted, this.last] = ["", new Map()];
    this.onNews();
  }
}
