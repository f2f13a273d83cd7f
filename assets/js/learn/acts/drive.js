/** What a step does to the page: opens a recording, moves the cursor, plays and pauses, opens a card, sets controls. */

import { RECORDED } from "../../journey.js";
import { styleLevels } from "../../kinds.js";
import { SPEEDS } from "../../player.js";
import { format, parse } from "../../stack.js";
import { openTab } from "../../tabs.js";
import { momentOf } from "./moments.js";

/**
 * @typedef {{recording?: string, at?: string, play?: string, seconds?: number, token?: number, light?: string[],
 *   set?: Record<string, any>, tab?: string}} Action as app/learn/lessons.py declares it
 */

const PLAIN = /** @type {const} */ (["prompt", "temperature", "colour", "ghosts"]);
const SECONDS = 4; // of a passage that is played, where the lesson does not say

export class Drive {
  /** @param {any} stage the first screen @param {import("./light.js").Light} light */
  constructor(stage, light) {
    this.stage = stage;
    this.light = light;
    this.before = null; // how the text was shown before the lesson
    this._turn = 0; // of the actions: the last one counts
  }

  /** A step begins: the page rests, and how the text is shown is the lesson's business. */
  begin() {
    const { colour, ghosts } = this.stage.settings;
    if (this.stage.player.playing) this.stage.player.pause();
    this.before ??= { colour, ghosts };
  }

  /** The page is the visitor's again. */
  end() {
    this._turn += 1;
    this.light.clear();
    if (this.before) this._set(this.before);
    this.before = null;
  }

  /** @param {Action} [action] @returns {Promise<HTMLElement|null>} the part that is lit */
  async act(action = {}) {
    const turn = ++this._turn;
    const { stage } = this;
    if (action.tab) {
      openTab(action.tab);
      return null;
    }
    if (action.recording) await this._open(action.recording);
    if (turn !== this._turn) return null;
    this._set({ ...this.before, ...action.set });
    this._move(action);
    stage.refresh();
    if (action.token) this._card(action.token);
    return this.light.show(action.light ?? []);
  }

  /** Whether the page shows a recording. @param {string} name */
  shows(name) {
    return this.stage.feed.run === RECORDED + name;
  }

  /** A recording of this step makes no entry of its own in the history: the step has one. */
  async _open(name) {
    const { stage } = this;
    await stage.journey.travelling;
    // What a step before, or the visitor, has set in the composer is not of this step.
    if (this.shows(name)) return stage.wish.adopt(stage.feed.model);
    const { trail } = stage.journey;
    trail.still = true;
    try {
      await stage.attempt(() => stage.session.recording(name));
    } finally {
      trail.still = false;
    }
    if (this.shows(name)) stage.edit("recording", name);
  }

  /** @param {Action} action */
  _move({ recording, at, play, seconds = SECONDS }) {
    const { player } = this.stage;
    const model = this.stage.feed.model;
    if (!model?.header || !(recording || at || play)) return;
    player.pause();
    const from = at ? momentOf(model, at) : recording && !play ? player.end : player.cursor;
    if (from !== null) player.seek(from);
    const until = play ? momentOf(model, play) : null;
    if (until === null) return;
    const wanted = (until - player.cursor) / 1e9 / seconds;
    if (wanted > 0) player.speed = nearest(wanted);
    if (wanted > 0) player.play(until);
  }

  _set({ stack, block, ...others }) {
    const { stage } = this;
    for (const name of PLAIN) if (others[name] !== undefined) stage.settings[name] = others[name];
    const text = stack || (block ? withBlocks(stage.tower.stack, block) : "");
    if (text && stage.tower.setStack(text)) stage.settings.stack = stage.tower.stack;
    stage.refresh();
  }

  /** The card of the nth committed token, as a click on it opens it. */
  _card(n) {
    const { stage } = this;
    const serial = stage.feed.model?.committed[n - 1];
    if (serial === undefined) return;
    const anchor = stage.text.el.querySelector(`[data-serial="${serial}"]`);
    stage.card.select(serial, { anchor, via: "click" });
    const scroller = stage.text.el.querySelector(".hx-text");
    if (!anchor || !scroller) return;
    const [token, room] = [anchor.getBoundingClientRect(), scroller.getBoundingClientRect()];
    scroller.scrollTop += token.top - room.top - room.height / 3;
  }
}

/** Of the speeds that the player knows, the one nearest to a wanted one. @param {number} wanted */
const nearest = (wanted) =>
  [...SPEEDS].sort((a, b) => Math.abs(Math.log(a / wanted)) - Math.abs(Math.log(b / wanted)))[0];

/** A stack with other T, by the letters of its levels. @param {string} text @param {Record<string, number>} blocks */
export function withBlocks(text, blocks) {
  const levels = /** @type {any[]} */ (parse(text) ?? []);
  const looks = styleLevels(levels.map(({ name, options }) => ({ kind: name, name, params: options })));
  return format(levels.map((one, i) => ({ ...one, block: blocks[looks[i].tag] ?? one.block })));
}
