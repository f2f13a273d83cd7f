/** What the card for slides says of a whole run, and how its text breaks into lines. Pure functions. */

import { differing, isGreedy } from "../levels/greedy.js";
import { clockOf } from "../levels/overlap.js";
import { stackName } from "../levels/stack-names.js";
import { plainSpeed, speedUp } from "../run/figures.js";
import { promptText } from "../run/copies.js";
import { STATUS } from "../../../text/en/run.js";
import { ratio, rounded } from "../../../text/numbers.js";
import { CLOCKS, HEADLINE } from "../../../text/en/lanes.js";
import { slide as words } from "../../../text/en/share.js";

/** @typedef {{text: string, level: number}} Part of the text, and the index of the level that supplied it */

// XML has no place for these, and a reader of slides no use: control characters and what reverses the direction of a line.
const UNWRITTEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/g;

const LONGEST = 1000; // characters of one line, far more than fit

/** @param {string} text */
export const clean = (text) => text.replace(/\r\n?/g, "\n").replace(UNWRITTEN, "\ufffd").replaceAll("\t", "    ");

/** @param {import("../run/trace.js").TraceModel} model of a run that is over */
export function factsOf(model) {
  const header = /** @type {import("../run/events.js").Header} */ (model.header);
  const last = model.snapshots.at(-1);
  const plain = plainSpeed(model.baseline);
  const gain = speedUp(model, model.end);
  const now = last?.tokens_per_s ?? null;
  const clock = clockOf(header);
  const speed = now === null ? "\u2013" : rounded(now);
  const used = new Set([...model.committed].map((serial) => model.tokens.get(serial)?.level));
  return {
    title: clean(header.title ?? ""),
    big: gain === null ? speed : `${ratio(gain)}\u00d7`,
    unit:
      gain === null ? (clock ? HEADLINE.rateOf[clock] : HEADLINE.rate) : clock ? HEADLINE.gainOf[clock] : HEADLINE.gain,
    against: plain === null ? "" : HEADLINE.against(speed, rounded(plain)),
    beside: [
      last?.tokens_per_target_forward ? words.perPass(ratio(last.tokens_per_target_forward)) : "",
      last?.drafts_kept == null ? "" : words.kept(Math.round(100 * last.drafts_kept)),
    ].filter(Boolean),
    stack: clean(stackName(header.stack)),
    code: clean(header.stack),
    levels: model.levels.filter(({ index }) => used.has(index)),
    prompt: clean(promptText(model).text).trim().replace(/\s+/g, " "),
    parts: partsOf(model),
    where: clean([header.machine, header.recorded?.slice(0, 10)].filter(Boolean).join(", ")),
    model: clean(model.levels.at(-1)?.name ?? ""),
    law: CLOCKS[clock]?.said ?? lawOf(model),
  };
}

/** What the stack does to the text. @param {import("../run/trace.js").TraceModel} model */
function lawOf(model) {
  if (!model.header?.lossless) return words.lossy;
  if (differing(model)) return STATUS.differs(model.baseline?.equal ?? 0);
  return isGreedy(model) ? words.exact : words.inLaw;
}

/** The committed text without special tokens, stretch by stretch. @param {import("../run/trace.js").TraceModel} model @returns {Part[]} */
function partsOf(model) {
  /** @type {Part[]} */ const parts = [];
  for (const { text, serials, special } of model.cells) {
    if (special) continue;
    const level = model.tokens.get(serials[0])?.level ?? -1;
    const last = parts.at(-1);
    if (last?.level === level) last.text += clean(text);
    else parts.push({ text: clean(text), level });
  }
  return parts;
}

/**
 * Lines of at most `width`, each of stretches from its left edge; the last one ends in an ellipsis where text is left.
 * @param {Part[]} parts @param {{width: number, most: number, measure: (text: string) => number}} room
 * @returns {{text: string, level: number, x: number, width: number}[][]}
 */
export function linesOf(parts, { width, most, measure }) {
  const text = parts.map((part) => part.text).join("");
  const end = text.trimEnd().length;
  /** @type {[number, number][]} */ const lines = []; // from and to, in the text
  const long = (/** @type {number} */ from, /** @type {number} */ to) => measure(text.slice(from, to)) > width;
  let at = text.length - text.trimStart().length;
  while (at < end && lines.length <= most) {
    const stop = text.indexOf("\n", at);
    const to = stop < 0 || stop > end ? end : stop;
    let cut = at;
    for (const word of text.slice(at, to).matchAll(/\s*\S+/g)) {
      const next = at + word.index + word[0].length;
      if (long(at, next)) break;
      cut = next;
    }
    if (cut === at && long(at, to)) for (cut = at + 1; !long(at, cut + 1); ) cut += 1; // a word that is longer than a line
    if (/[\udc00-\udfff]/.test(text[cut] ?? "")) cut -= 1; // half of a character
    const whole = cut === at || !text.slice(cut, to).trim();
    if (text.slice(at, cut).trim()) lines.push([at, whole ? to : cut]); // a blank line says nothing on a slide
    at = whole ? to + 1 : cut + text.slice(cut).search(/\S/);
  }
  const more = lines.length > most;
  const shown = lines.slice(0, most);
  const last = shown.at(-1);
  if (more && last) while (last[1] > last[0] && measure(`${text.slice(...last)}\u2026`) > width) last[1] -= 1;
  return shown.map((line, i) => {
    const runs = cut(parts, ...line);
    if (more && i === shown.length - 1) runs.push({ text: "\u2026", level: runs.at(-1)?.level ?? -1 });
    let x = 0;
    return runs.map((run) => {
      const wide = measure(run.text);
      x += wide;
      return { ...run, x: x - wide, width: wide };
    });
  });
}

/** As much of a text as fits, with an ellipsis where it is cut. A prompt may be very long: the place is found by halving.
 *  @param {string} text @param {number} most @param {(text: string) => number} measure */
export function shortened(text, most, measure) {
  if (text.length <= LONGEST && measure(text) <= most) return text;
  const letters = [...text.slice(0, LONGEST)];
  const upTo = (/** @type {number} */ n) => `${letters.slice(0, n).join("")}\u2026`;
  let [fits, over] = [0, letters.length + 1];
  while (over - fits > 1) {
    const middle = (fits + over) >> 1;
    if (measure(upTo(middle)) > most) over = middle;
    else fits = middle;
  }
  return upTo(fits);
}

/** The stretches between two places of the text. @param {Part[]} parts @param {number} from @param {number} to */
function cut(parts, from, to) {
  let at = 0;
  return parts.flatMap(({ text, level }) => {
    const begin = at;
    at += text.length;
    const mine = text.slice(Math.max(0, from - begin), Math.max(0, to - begin));
    return mine ? [{ text: mine, level }] : [];
  });
}
