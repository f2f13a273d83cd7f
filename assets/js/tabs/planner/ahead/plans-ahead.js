/** Who answers the Planner: the server, or answers that were worked out ahead for a page without one, asked alike. */

import { AHEAD } from "../../../../text/en/planner.js";
import { askedOfServer, madeAhead } from "../another/answers.js";
import { Asker } from "../another/asker.js";
import { ANOTHER } from "../../../../text/en/another.js";

/** @import {Hear} from "../another/asker.js" @import {Profile} from "../profile/profile.js" */

/** @typedef {{curves: string, plans: string, brought: string, stops: Record<string, number[]>}} Place of a profile's answers, below /hx/
 */

/** What was worked out of each profile, fetched once. */
export class Ahead {
  /** @param {string} base @param {Record<string, Place>} places by source and temperature */
  constructor(base, places) {
    this.base = base;
    this.places = places;
    /** @type {Map<string, Promise<any>>} */ this._known = new Map();
  }

  /** @param {string} source @param {Profile} profile @returns {Place|undefined} */
  place(source, profile) {
    return this.places[`${source} ${profile.temperature ?? 0}`];
  }

  /** @param {{source: string, profile: Profile}} question */
  curves({ source, profile }) {
    const place = this.place(source, profile);
    return place ? this._got(place.curves) : Promise.resolve(null);
  }

  /** What systems ask of a profile, by its own numbers. @param {string} name @param {{source: string, profile: Profile}} question */
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
class AskerAhead {
  /** @param {Ahead} ahead @param {Hear} hear */
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

// What the what-if controls ask, by name, where answers were worked out ahead: one control at a time, at some stops.

/** @typedef {{max_block: number, rejections: number, cost: {level: string, factor: number}, levels: boolean[]}} Turned */

/** The names of what is turned; app/site/planned_ahead.py names its answers alike. None: everything is at rest.
 *  @param {Turned} turned @param {Profile} profile @param {number} longest the profile's own longest block */
function namesOf(turned, profile, longest) {
  const { cost, rejections, max_block: block } = turned;
  return [
    ...(block === longest ? [] : [`block=${block}`]),
    ...(rejections === 1 ? [] : [`rejections=${rejections}`]),
    ...(Math.abs(cost.factor - 1) < 1e-9 ? [] : [`cost=${cost.factor}=${cost.level}`]),
    ...turned.levels.flatMap((allowed, i) => (allowed ? [] : [`without=${profile.levels[i].name}`])),
  ];
}

// Reads what the server's side writes for several looks at once (app/site/seen_as.py), where what is alike is written
// once.

const [LOOK, PART] = ["~", "$"];
const [PHONE, WALL] = [700, 1800]; // px of the page, as in planner.css

/** Which of the looks a page has: as on a desk, on a phone, on a wall, each light and dark. @param {boolean} dark @param {number} width */
export const lookOf = (dark, width) => 2 * (width < PHONE ? 1 : width >= WALL ? 2 : 0) + Number(dark);

/** A part of what was written, for one look. @param {any[]} parts @param {any} value @param {number} look
 *  @returns {any} */
export function seenAs(parts, value, look) {
  if (Array.isArray(value)) return value.map((one) => seenAs(parts, one, look));
  if (value === null || typeof value !== "object") return value;
  if (PART in value) return seenAs(parts, parts[value[PART]], look);
  if (LOOK in value) return seenAs(parts, value[LOOK][look], look);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, seenAs(parts, one, look)]));
}

// Who answers.

/** @param {{base: string, setup: any, ahead: Ahead|null}} where */
export const whoAnswers = ({ base, setup, ahead }) => ({
  /** The plans of a profile. @param {Hear} hear */
  plans: (hear) => (ahead ? new AskerAhead(ahead, hear) : new Asker(base + setup.answer, hear)),
  /** Whether another level is worth it. @param {import("../another/answers.js").Hear} hear */
  another: (hear) =>
    ahead
      ? madeAhead((question) => ahead.curves(question), hear, ANOTHER.noGrid)
      : askedOfServer(base + setup.another, hear),
  /** What systems ask. @param {string} name @param {Hear} hear @returns {{ask: (question: any) => any}} */
  brought: (name, hear) =>
    ahead ? { ask: (question) => found(ahead, name, question, hear) } : new Asker(base + setup.brought[name], hear),
});

/** @param {Ahead} ahead @param {string} name @param {any} question @param {Hear} hear */
async function found(ahead, name, question, hear) {
  const answer = await ahead.brought(name, question).catch(() => ({ error: AHEAD.unread }));
  if (answer?.error || !answer) return hear.onRefusal(answer?.error ?? AHEAD.none, "");
  return hear.onAnswer(answer, question);
}
