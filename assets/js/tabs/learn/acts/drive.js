/** What a step does to Explore beside it: opens a recording, moves the cursor, plays and pauses, opens a card, sets controls. */

import { origin } from "../../../shared/run/copies.js";
import { RECORDED } from "../../../shared/visit/journey.js";
import { styleLevels } from "../../../shared/levels/kinds.js";
import { SPEEDS } from "../../../shared/player/player.js";
import { format, parse } from "../../../shared/levels/stack.js";
import { openTab } from "../../../shared/kit/tabs.js";
import { momentOf } from "../figures/run-figures.js";
import { panelsOf } from "./page-parts.js";

/** @import {Reach} from "../../../shared/player/within-reach.js"
 *  @import {TraceModel} from "../../../shared/run/trace.js" @import {Action} from "../figures/run-figures.js"
 *  @import {Light} from "./page-parts.js" */

const PLAIN = /** @type {const} */ (["prompt", "temperature", "colour", "ghosts"]);
const SECONDS = 4; // of a passage that is played, where the lesson does not say

export class Drive {
  /** @param {Reach} stage the first screen @param {Light} light */
  constructor(stage, light) {
    this.stage = stage;
    this.light = light;
    /** @type {Record<string, any>|null} */ this.before = null; // how the text was shown before the lesson
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
    this.stage.lend([]);
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
    // A recording of this step makes no entry of its own in the history: the step has one.
    if (action.recording) await stage.record(action.recording);
    if (turn !== this._turn) return null;
    this._set({ ...this.before, ...action.set });
    this._move(action);
    stage.show({});
    if (action.token) this._card(action.token);
    stage.lend(["details", ...panelsOf(action.light ?? [])]); // lessons speak of letters and dots
    return this.light.show(action.light ?? []);
  }

  /** Whether the page shows a recording. @param {string} name */
  shows(name) {
    return this.stage.feed.run === RECORDED + name;
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

  /** @param {Record<string, any>} some */
  _set({ stack, block, ...others }) {
    const named = PLAIN.filter((name) => others[name] !== undefined).map((name) => [name, others[name]]);
    const text = stack || (block ? withBlocks(this.stage.stack(), block) : "");
    this.stage.show({ ...Object.fromEntries(named), ...(text && { stack: text }) });
  }

  /** The card of a committed token, as a click on it opens it. @param {number|"copied"} which */
  _card(which) {
    const { stage } = this;
    const serial = tokenOf(stage.feed.model, which);
    if (serial === undefined) return;
    stage.press(serial);
  }
}

/** The nth committed token, or the first that was copied from the text that the run itself had written.
 *  @param {TraceModel|null} model @param {number|"copied"} which @returns {number|undefined} its serial */
export function tokenOf(model, which) {
  if (which !== "copied") return model?.committed[which - 1];
  return model?.committed.find((serial) => {
    const record = model.tokens.get(serial);
    return record && origin(model, record)?.serial != null;
  });
}

/** Of the speeds that the player knows, the one nearest to a wanted one. @param {number} wanted */
const nearest = (wanted) =>
  [...SPEEDS].sort((a, b) => Math.abs(Math.log(a / wanted)) - Math.abs(Math.log(b / wanted)))[0];

/** A stack with other T, by the letters of its levels. @param {string} text @param {Record<string, number>} blocks */
function withBlocks(text, blocks) {
  const levels = /** @type {any[]} */ (parse(text) ?? []);
  const looks = styleLevels(levels.map(({ name, options }) => ({ kind: name, name, params: options })));
  return format(levels.map((one, i) => ({ ...one, block: blocks[looks[i].tag] ?? one.block })));
}
