/** Answers of the planner that were worked out ahead, for a page without a server; asked as `Asker` asks one. */

import { lookOf, seenAs } from "./seen-as.js";
import { AHEAD } from "../../../../text/en/planner.js";
import { namesOf } from "./asked-ahead.js";

/**
 * @typedef {{curves: string, plans: string, brought: string, stops: Record<string, number[]>}} Place of a profile's answers, below /hx/
 */

/** What was worked out of each profile, fetched once. */
export class Ahead {
  /** @param {string} base @param {Record<string, Place>} places by source and temperature */
  constructor(base, places) {
    this.base = base;
    this.places = places;
    /** @type {Map<string, Promise<any>>} */ this._known = new Map();
  }

  /** @param {string} source @param {any} profile @returns {Place|undefined} */
  place(source, profile) {
    return this.places[`${source} ${profile.temperature ?? 0}`];
  }

  /** @param {{source: string, profile: any}} question */
  curves({ source, profile }) {
    const place = this.place(source, profile);
    return place ? this._got(place.curves) : Promise.resolve(null);
  }

  /** What systems ask of a profile, by its own numbers. @param {string} name @param {{source: string, profile: any}} question */
  async brought(name, { source, profile }) {
    const place = this.place(source, profile);
    return place ? (await this._got(place.brought))[name] : null;
  }

  /** @param {any} question @returns {Promise<any>} an answer, or what `Asker` makes of a refusal */
  async answer(question) {
    const { source, profile, figures, dark, width } = question;
    const place = this.place(source, profile);
    const names = namesOf(question, profile, profile.max_block ?? 16);
    const { parts, value } = place ? await this._got(place.plans) : { parts: [], value: {} };
    const packed = names.length > 1 ? undefined : value[names[0] ?? ""];
    if (!packed) return { error: names.length > 1 ? AHEAD.several : AHEAD.none };
    const { figures: drawn, ...numbers } = seenAs(parts, packed, lookOf(dark, width));
    return {
      ...numbers,
      figures: Object.fromEntries(figures.map((/** @type {string} */ name) => [name, drawn[name]])),
    };
  }

  /** @param {string} path */
  _got(path) {
    const coming = this._known.get(path) ?? fetch(`${this.base}/hx/${path}`).then((reply) => reply.json());
    this._known.set(path, coming);
    coming.catch(() => this._known.delete(path));
    return coming;
  }
}

/** Asked as an `Asker` is. */
export class AskerAhead {
  /** @param {Ahead} ahead @param {import("../another/asker.js").Hear} hear */
  constructor(ahead, hear) {
    this.ahead = ahead;
    this.hear = hear;
    this.wanted = null;
    this.busy = false;
  }

  /** @param {any} question the one that counts now */
  async ask(question) {
    this.wanted = question;
    const heard = await this.ahead.answer(question).catch(() => ({ error: AHEAD.unread }));
    if (this.wanted !== question) return;
    this.wanted = null;
    if (heard.error) this.hear.onRefusal(heard.error, "");
    else this.hear.onAnswer(heard, question);
  }
}
