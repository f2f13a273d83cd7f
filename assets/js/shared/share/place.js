/** Where an address leads: to a recording, a moment and a token of it (?at=5.3&token=57), or to the run that it holds
 *  (#run=...). What is not there is said, and the nearest is shown. */

import { RECORDED } from "../visit/journey.js";
import { promptText } from "../run/copies.js";
import { setQuery } from "../kit/tabs.js";
import { momentAt, tokenAt, packedIn } from "./links.js";
import { words } from "../../../text/en/share.js";

const LONGEST_WORD = 40;

/** @typedef {{feed: import("../run/trace.js").Feed, player: import("../player/player.js").Player,
 *    session: import("../visit/session.js").Session, press: (serial: number) => void, isSame: () => boolean|undefined,
 *    attempt: (action: () => Promise<void>) => Promise<void>, tell: (text: string, kind?: string) => void}} Page
 *    press: opens the card of a token; isSame: whether the composer holds the stack of the run that is shown */

export class Place {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    /** @type {string|null} */ this.run = null; // that the address named a moment of, or held
    /** @type {number|null} */ this.ns = null; // the moment, until somebody moves on
    addEventListener("hashchange", () => this.page.attempt(() => this.unpack()));
  }

  /** The recording of the nearest name. @param {string} name @param {{name: string, reason?: string}[]} recordings */
  nearest(name, recordings) {
    const good = recordings.filter((one) => !one.reason);
    return good.sort((a, b) => alike(b.name, name) - alike(a.name, name))[0] ?? null;
  }

  /** What is said of a recording that is not here. @param {string} name @param {string} [title] of the one in its place */
  another(name, title) {
    return words.noSuchRecording(name.slice(0, 2 * LONGEST_WORD), title ?? "");
  }

  /** Opens the run that the address holds, if it holds one. @param {boolean} [shown] whether that run is shown already */
  async unpack(shown = false) {
    const found = packedIn(location.hash);
    if (!found) return;
    if ("fault" in found) throw new Error(words.faults[found.fault]);
    if (!shown) await this.page.session.unpack(found.base64, words.linked);
    this.run = this.page.feed.run;
  }

  /** Says that a recording is shown in the place of a run that nobody has made: where the address asks for a prompt or a
   *  stack, and the recording is of another one.
   *  @param {Record<string, any>} given @param {string} then what can be done to run them */
  instead({ prompt, stack, preset }, then) {
    const { model, run } = this.page.feed;
    if (!model?.header || !run?.startsWith(RECORDED)) return;
    const otherPrompt = prompt !== undefined && prompt.trim() !== promptText(model).text.trim();
    const otherStack = Boolean(stack || preset) && !this.page.isSame();
    if (otherPrompt || otherStack)
      this.page.tell(words.instead(model.header.title ?? "", otherPrompt, otherStack, then));
  }

  /** Goes to the moment and the token that the address names; what is to be said. @param {boolean} other another recording is shown */
  arrive(other) {
    const query = new URLSearchParams(location.search);
    const [at, token] = ["at", "token"].map((name) => query.get(name)?.slice(0, LONGEST_WORD) ?? null);
    const { feed, player } = this.page;
    const { model, run } = feed;
    if ((at === null && token === null) || !model?.header || !run) return [];
    const wanted = !other && run.startsWith(RECORDED);
    if (!wanted) return this._forget() ?? [];
    const moment = at === null ? null : momentAt(model, at);
    const chosen = token === null ? null : tokenAt(model, token);
    const said = [];
    if (at !== null && !moment) said.push(words.noMoment(`at=${at}`));
    if (token !== null && !chosen) said.push(words.noMoment(`token=${token}`));
    if (at !== null && moment && !moment.exact) said.push(words.noSuchMoment(at));
    if (token !== null && chosen && !chosen.exact) said.push(words.noSuchToken(token));
    if (!moment && !chosen) return said;
    const late = moment && chosen && chosen.ns > moment.ns;
    if (late) said.push(words.notYet(String(token)));
    player.pause();
    player.seek(Math.max(moment?.ns ?? 0, chosen?.ns ?? 0));
    this.run = run;
    this.ns = player.cursor;
    // The page draws the moment in the next frame, and the token with it.
    if (chosen) requestAnimationFrame(() => this.page.press(chosen.serial));
    return said;
  }

  /** Once somebody moves on, or another run is shown, the address names the moment no more. */
  update() {
    const { feed, player } = this.page;
    if (this.run === null) return;
    if (feed.run !== this.run || (this.ns !== null && player.cursor !== this.ns)) this._forget();
  }

  /** What comes next is shown by another address, which says by itself where it leads. */
  leave() {
    this.run = null;
    this.ns = null;
  }

  _forget() {
    const held = this.ns === null && location.hash.startsWith("#run=");
    this.leave();
    if (held) history.replaceState(history.state, "", location.pathname + location.search);
    setQuery({ at: null, token: null });
  }
}

/** How much two names are alike: pairs of letters that they share, of all. @param {string} a @param {string} b */
function alike(a, b) {
  const pairs = (/** @type {string} */ text) =>
    new Set(Array.from({ length: text.length - 1 }, (_, i) => text.slice(i, i + 2)));
  const [one, other] = [pairs(a), pairs(b)];
  return (2 * [...one].filter((pair) => other.has(pair)).length) / (one.size + other.size || 1);
}
