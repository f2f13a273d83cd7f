/** One round as floors above each other, the text on top. Words rise from floor to floor; what a verifier strikes out
 *  sinks below what it writes instead. What is shown is a function of the moment; only the way there moves. */

import { h, say } from "../../../shared/kit/dom.js";
import { roundOf, stateOf } from "../../../shared/anatomy/round.js";
import { levelBadge } from "../../../shared/levels/badge.js";
import { timeOf } from "../../../shared/levels/stated.js";
import { fly, shown } from "./telling-clock.js";
import { promptText } from "../../../shared/run/copies.js";
import { plainTimeOf, plainWords, wordOf } from "./scenes.js";
import { timeBars } from "./run-picture.js";
import { STORY } from "../../../../text/en/story.js";

/** @import {Call, Round, Tile} from "../../../shared/anatomy/round.js"
 *  @import {Level, Segment, TraceModel} from "../../../shared/run/trace.js" @import {Moment} from "./scenes.js" */

/** @typedef {{el: HTMLElement, tile: Tile, call: Call, index: number}} Piece */

const BEFORE = 110; // characters of the text that are shown before the round
const WRITES_MS = 420; // between words of a draft
const JUDGES_MS = 380; // between verdicts
const RISES_MS = 70;

/** @param {TraceModel} model @param {number} place of the round, from 0 */
export function roundPicture(model, place) {
  const round = /** @type {Round} */ (roundOf(model, place));
  const top = model.levels.length - 1;
  const floors = model.levels.map((level) => floorOf(level, level.index === top));
  /** @type {Piece[]} */ const pieces = [];
  round.calls.forEach((call, index) => {
    for (const tile of call.tiles) {
      const el = tileNode(model, tile.record, tile.record.at - round.from);
      floors[call.segment.level].row.append(el);
      pieces.push({ el, tile, call, index });
    }
  });
  const plain = plainWords(model, round);
  const alone = plain.map((word) => {
    const el = tileNode(model, { id: word.id, level: top }, word.at - round.from);
    floors[top].row.append(el);
    return el;
  });
  const text = textBefore(model, round);
  const written = round.tokens.map((record) => spanOf(model, record));
  const writtenAlone = plain.map(({ id }) => spanOf(model, { id, level: top }));
  const line = h("p.hx-story-text", { dir: "auto" }, [h("span", text), written, writtenAlone]);
  const bars = timeBars(model, round, plain);
  const tower = h("div.hx-story-floors", [floors.map((floor) => floor.el).reverse(), bars.el]);
  const el = h("div.hx-story-round", { style: { "--columns": columnsOf(model, round) } }, [
    h("div.hx-story-page", [h("p.hx-story-prompt", { dir: "auto", text: promptText(model).text }), line]),
    tower,
  ]);

  /** Which pieces stand at a moment, and how. @param {Moment} moment */
  function dress(moment) {
    const { at, scene } = moment;
    const lone = scene > 1;
    for (const { el: node, tile, call, index } of pieces) {
      const state = lone ? "future" : stateOf(model, tile, call, at);
      const risen = pieces.some((x) => x.index > index && x.tile.record === tile.record && visible(x, at));
      node.dataset.state = state;
      node.classList.toggle("hx-story-risen", risen);
      const replaced = state === "rejected" && pieces.some((x) => replaces(x, tile, call) && visible(x, at));
      node.classList.toggle("hx-story-struck", replaced);
    }
    alone.forEach((node, i) => (node.dataset.state = lone && i < moment.nth ? "written" : "future"));
    const committed = !lone && at >= round.t1;
    written.forEach((span) => {
      span.hidden = lone;
      span.classList.toggle("hx-story-there", committed);
    });
    writtenAlone.forEach((span, i) => {
      span.hidden = !lone;
      span.classList.toggle("hx-story-there", i < moment.nth);
    });
    el.classList.toggle("hx-story-lone", lone);
    bars.show(moment);
    floors.forEach((floor, level) => {
      const call = round.calls.filter((c) => c.segment.level === level && c.segment.t0 <= at).at(-1);
      const works = moment.call?.segment.level === level || (lone && level === top && moment.what === "one");
      floor.el.classList.toggle("hx-story-works", works && ["drafts", "rises", "one"].includes(moment.what));
      const told = lone ? (moment.nth ? STORY.pass(plainTimeOf(model, [plain[moment.nth - 1]])) : "") : "";
      say(floor.pass, lone ? (level === top ? told : "") : call ? costOf(model, call.segment) : "");
    });
  }

  const visible = (/** @type {Piece} */ { tile, call }, /** @type {number} */ at) =>
    stateOf(model, tile, call, at) !== "future";
  const replaces = (/** @type {Piece} */ x, /** @type {Tile} */ tile, /** @type {Call} */ call) =>
    x.call === call && x.tile.what === "own" && x.tile.record.at === tile.record.at;

  return {
    el,
    /** Shows a moment; from the one before it, if that is given, the words move there. @param {Moment} moment @param {Moment|null} from */
    show(moment, from) {
      const before = from ? new Map(pieces.map((x) => [x, { state: x.el.dataset.state, box: boxOf(x.el) }])) : null;
      dress(moment);
      if (before && from) move(moment, before);
    },
  };

  /** @param {Moment} moment @param {Map<Piece, {state: string|undefined, box: DOMRect}>} before */
  function move({ what, at, nth, scene }, before) {
    if (what === "commits") return written.forEach((span, i) => fly(span, boxOf(roof(i)), i * 110));
    if (scene === 2 && what === "one") {
      shown(alone[nth - 1], 0);
      return fly(writtenAlone[nth - 1], boxOf(alone[nth - 1]), 260);
    }
    for (const [piece, was] of before) {
      const { el: node, tile, index } = piece;
      const nthColumn = tile.record.at - round.from;
      const struck = node.classList.contains("hx-story-struck");
      if (struck && was.state === "rejected" && what === "corrects") fly(node, was.box, 0);
      if (was.state === "future" && node.dataset.state !== "future") {
        const below = pieces.filter((x) => x.index < index && x.tile.record === tile.record && visible(x, at)).at(-1);
        if (below && tile.what === "check") fly(node, boxOf(below.el), nthColumn * RISES_MS);
        else
          shown(
            node,
            tile.what === "draft" ? nthColumn * WRITES_MS : what === "judges" ? round.columns * JUDGES_MS : 120,
          );
      }
      if (what === "judges" && was.state === "asked")
        shown(node.querySelectorAll(".hx-story-mark, i"), nthColumn * JUDGES_MS);
    }
  }

  /** The tile below a word of the text: on the roof. @param {number} i */
  function roof(i) {
    const { serial } = round.tokens[i];
    const own = pieces.filter((x) => x.tile.record.serial === serial && x.call.segment.level === top);
    return (own.at(-1) ?? pieces[0]).el;
  }
}

/** The widths of the places: as wide as the longest word that stands at one. */
function columnsOf(/** @type {TraceModel} */ model, /** @type {Round} */ round) {
  const longest = Array(round.columns).fill(4);
  for (const { tiles } of round.calls)
    for (const { record } of tiles) {
      const column = record.at - round.from;
      longest[column] = Math.max(longest[column], wordOf(model, record.id).length + 1);
    }
  return longest.map((n) => `minmax(0, ${n}fr)`).join(" ");
}

/** @param {TraceModel} model @param {Segment} segment */
const costOf = (model, segment) =>
  segment.kind === "draft" ? timeOf(model, segment) : STORY.pass(timeOf(model, segment));
const boxOf = (/** @type {Element} */ el) => el.getBoundingClientRect();

/** @param {Level} level @param {boolean} roof */
function floorOf(level, roof) {
  const pass = h("span.hx-story-pass");
  const side = h("div.hx-story-side", [
    levelBadge(level),
    h("span.hx-story-name", roof ? STORY.target : level.name),
    pass,
  ]);
  const row = h("div.hx-story-row");
  const el = h("div.hx-story-floor", { style: { "--hue": level.hue } }, [side, row]);
  if (roof) el.classList.add("hx-story-roof");
  return { el, row, pass };
}

/** @param {TraceModel} model @param {{id: number, level: number}} token @param {number} column from 0 */
function tileNode(model, token, column) {
  const { hue, underline } = model.levels[token.level];
  const el = h(
    "span.hx-story-tile",
    { "data-line": underline, style: { "--hue": hue, "grid-column": String(column + 1) } },
    [h("span.hx-story-word", { text: wordOf(model, token.id) }, h("i")), h("b.hx-story-mark")],
  );
  return el;
}

/** A word of the text. @param {TraceModel} model @param {{id: number, level: number}} token */
function spanOf(model, token) {
  const { hue, underline } = model.levels[token.level];
  const word = wordOf(model, token.id);
  const el = h("span.hx-story-new", { "data-line": underline, style: { "--hue": hue }, text: word });
  return el;
}

/** The end of the text before the round, from a word's beginning. @param {TraceModel} model @param {Round} round */
function textBefore(model, round) {
  const whole = model.text(round.from).replace(/\s+/g, " ");
  const cut = whole.length > BEFORE ? whole.indexOf(" ", whole.length - BEFORE) : -1;
  return `${cut < 0 ? whole : `\u2026${whole.slice(cut)}`} `;
}
