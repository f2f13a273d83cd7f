/** The caption under the text, and the page's one voice. What is read by eye changes no faster than it can be read; what
 *  is heard, more seldom: a step speaks at once, a replay about every two seconds, at rejections it rests on, and at its end. */

import { captionAt, plain, tokenText } from "./caption.js";
import { h, say } from "../kit/dom.js";
import { stackName } from "../levels/stack-names.js";
import { STATUS } from "../../../text/en/run.js";

/** @import {Player} from "../player/player.js" @import {Level, TraceModel} from "../run/trace.js"
 *  @import {Caption, Part} from "./caption.js" */

const SHOWN_MS = 1600; // at least, while the replay runs
const LATE_MS = 800; // at least, of a sentence that is two rounds behind what plays
const SPOKEN_MS = 2000;
const REST_MS = [2200, 6000]; // of the replay at a rejection: at least, at most
const PER_LETTER_MS = 38;

/** How long the replay rests on a sentence of so many letters. @param {number} letters */
export const restOf = (letters) => Math.min(REST_MS[1], Math.max(REST_MS[0], 1000 + PER_LETTER_MS * letters));

/** How long a sentence stands at least while the replay runs. @param {number} rounds that have begun since its own */
export const leastMs = (rounds) => (rounds >= 2 ? LATE_MS : SHOWN_MS);

/** The rejection to tell of those since the last sentence: the last one, where it is of the round that plays or of the one
 *  before; null where what plays is to be told.
 *  @param {Pick<TraceModel, "moments"|"roundAt">} model @param {number} from @param {number} cursor ns */
export function missedOf(model, from, cursor) {
  const missed = cursor > from ? model.moments.rejectedBetween(from, cursor) : null;
  return missed && model.roundAt(cursor) - model.roundAt(missed.t) <= 1 ? missed : null;
}

/** @param {{player: Player, live: () => {run: boolean, status: any}}} ctx live: whether the run
 *    that is shown is being written, and what the server says of it */
export function createCaption({ player, live }) {
  const text = h("p.hx-caption-text", { "aria-hidden": "true" });
  const voice = h("p.hx-sr", { role: "status", "aria-live": "polite" });
  const el = h("div.hx-caption", [text, voice]);
  /** @type {TraceModel|null} */ let model = null;
  let shown = { key: "", at: 0, cursor: 0, round: 0 };
  let heard = { text: "", at: -Infinity };
  /** @type {ReturnType<typeof setTimeout>|undefined} */ let waiting;

  /** What is said now, or as soon as the last words have had their time. @param {string} words @param {boolean} atOnce */
  const speak = (words, atOnce) => {
    clearTimeout(waiting);
    if (!words || words === heard.text) return;
    const left = atOnce ? 0 : heard.at + SPOKEN_MS - performance.now();
    if (left > 0) return void (waiting = setTimeout(() => speak(words, true), left));
    heard = { text: words, at: performance.now() };
    say(voice, words);
  };

  /** @param {Caption} caption @param {number} cursor @param {number} round */
  const draw = (caption, cursor, round) => {
    shown = { key: caption.key, at: performance.now(), cursor, round };
    el.dataset.kind = caption.kind;
    if (model) text.replaceChildren(...drawnParts(caption.parts, model));
  };

  return {
    el,
    /** @param {TraceModel} next @param {number} cursor */
    update(next, cursor, _opts = {}) {
      const fresh = next !== model;
      model = next;
      const running = player.playing && !player.resting;
      const behind = model.roundAt(cursor) - shown.round;
      const hurried = !fresh && (running || player.following) && performance.now() - shown.at < leastMs(behind);
      const over = model.footer !== null && cursor >= model.end;
      if (hurried && !over) return;
      // While it runs, what was rejected since the last sentence is told rather than what happens to be there now.
      const missed = running ? missedOf(model, shown.cursor, cursor) : null;
      const caption = missed && !over ? captionAt(model, missed.t, missed) : captionAt(model, cursor);
      if (!fresh && caption.key === shown.key) return void (shown.cursor = cursor);
      draw(caption, cursor, model.roundAt(missed?.t ?? cursor));
      const { run, status } = live();
      if (run && !over) speak(spoken(model, status), false);
      else speak(plain(model, caption.parts), !(running || player.following) || over);
    },
    /** ms that the replay rests at a time of the run (ns). @param {number} t */
    rest: (t) => (model ? restOf(plain(model, captionAt(model, t).parts).length) : 0),
  };
}

/** @param {Part[]} parts @param {TraceModel} model whose they are */
export const drawnParts = (parts, model) => parts.map((part) => drawn(part, model));

/** @param {Part} part @param {TraceModel} model */
function drawn(part, model) {
  if (typeof part === "string") return part;
  if ("named" in part) return levelNode(part, model.levels[part.level]);
  const { hue, underline } = model.levels[part.level];
  const node = h("span.hx-caption-token", { "data-line": underline, style: { "--hue": hue } });
  node.textContent = tokenText(model, part.token);
  if (part.state) node.dataset.state = part.state;
  return node;
}

/** @param {{named: boolean, block?: number}} part @param {Level} level */
function levelNode({ named, block }, level) {
  const letter = h("b.hx-badge", { "data-line": level.underline, text: level.tag });
  const name = named ? h("span.hx-caption-name", ` ${level.name}`) : null;
  const size = block === undefined ? null : ` T\u00a0${block}`;
  return h("span.hx-caption-level", { style: { "--hue": level.hue } }, [letter, name, size]);
}

/** The polite line for screen readers: a summary, never the tokens. */
function spoken(/** @type {TraceModel} */ model, /** @type {any} */ status) {
  if (!model?.header) return "";
  const s = model.snapshots.at(-1);
  const plan = model.plans.at(-1);
  return STATUS.spoken(status?.text ?? "", {
    tokens: model.committed.length,
    speed: s?.tokens_per_s ?? null,
    kept: s?.drafts_kept ?? null,
    plan: plan ? stackName(plan.stack) : null,
  });
}
