/** The anatomy of a round: one round taken apart, event by event. It follows the cursor: its arrow keys step the player, so
 *  what it shows is the moment that the text, the slider and everything else shows. */

import { faceButton, h, say, stepButton } from "../kit/dom.js";
import { roundNumber } from "../kit/round-number.js";
import { timeOf } from "../levels/stated.js";
import { actOf } from "./bars.js";
import { cacheStrips } from "./cache-strips.js";
import { gridOf } from "./grid.js";
import { choices, happened, placeOf, roundOf, settled, spotlight, stateOf } from "./round.js";
import { brought } from "../../systems/index.js";
import { SAY, EVENT, QUOTED } from "../../../text/en/anatomy.js";
import { badge } from "../levels/badge.js";
import { originOf } from "../levels/kinds.js";
import { ranText } from "../run/ran.js";

/** @import {Player} from "../player/player.js" @import {TokenRecord} from "../run/records.js"
 *  @import {Segment, TraceModel} from "../run/trace.js" @import {Happening, Round, Tile} from "./round.js" */

const LINES = 9; // of a table of distributions

/** @param {{player: Player, onClose: () => void, onChange: () => void}} ctx onChange: another token
 *    was chosen */
export function createAnatomy(ctx) {
  const { player } = ctx;
  const title = h("h2", { tabindex: "-1" });
  const facts = h("span.hx-an-muted.hx-an-facts");
  const count = h("span.hx-an-muted.hx-an-count");
  const head = h("header.hx-panel-head.hx-desk-head", [
    title,
    facts,
    h("span.hx-an-keys.hx-an-muted", SAY.keys),
    stepButton(-1, SAY.back, () => player.stepEvent(-1)),
    count,
    stepButton(1, SAY.on, () => player.stepEvent(1)),
    faceButton("\u00d7", SAY.close, () => ctx.onClose(), "hx-desk-close"),
  ]);
  const strip = h("ol.hx-an-strip", { "aria-label": SAY.events });
  const told = h("span");
  const spent = h("span.hx-an-work");
  const saying = h("p.hx-an-saying", [told, " ", spent]);
  const held = cacheStrips();
  const picture = h("div.hx-an-picture", { role: "group", tabindex: "0", "aria-label": SAY.picture });
  const verdict = h("div.hx-an-verdict");
  const body = h("div.hx-an-body", [picture, verdict]);
  const beside = h("div.hx-an-beside"); // what only some rounds have
  const el = h("section.hx-desk.hx-anatomy", { "aria-label": SAY.open, hidden: true }, [
    head,
    strip,
    saying,
    held.el,
    beside,
    body,
  ]);

  /** @type {TraceModel|null} */ let model = null;
  let cursor = 0;
  /** @type {{at: string, serial: number, level: number|null}|null} */ let choice = null;
  let drawn = "";
  let strung = "";

  const round = () => (model ? roundOf(model, placeOf(model, cursor)) : null);
  /** Which event the cursor is at: a token stays chosen until the next one. */
  const event = (/** @type {Round} */ one) => `${one.place} ${happened(one, cursor)}`;

  /** The chosen token, else the one that the event is about. */
  function chosen(/** @type {Round} */ one) {
    const mine = choice?.at === event(one) ? (model?.tokens.get(choice.serial) ?? null) : null;
    return mine ?? spotlight(one, cursor);
  }

  function choose(/** @type {number} */ serial, /** @type {number|null} */ level = null) {
    const one = round();
    if (!one) return;
    choice = { at: event(one), serial, level };
    ctx.onChange();
  }

  /** The token above or below, in order of place. */
  function move(/** @type {number} */ by) {
    const one = round();
    if (!one || !model) return;
    const list = choices(one, settled(model, cursor));
    const here = list.indexOf(/** @type {TokenRecord} */ (chosen(one)));
    const next = list[Math.min(list.length - 1, Math.max(0, here + by))];
    if (next) choose(next.serial);
  }

  /** The events of the round, each a button that leads to it. */
  function string(/** @type {Round} */ one) {
    const own = model;
    if (!own) return;
    const key = `${own.version} ${one.place}`;
    if (key !== strung) {
      strung = key;
      strip.replaceChildren(
        ...one.happenings.map((x) =>
          h("li", [
            h("button.hx-an-event", { "data-tip": sentence(own, one, x), onclick: () => player.seek(x.t) }, [
              short(own, one, x),
            ]),
          ]),
        ),
      );
    }
    const now = happened(one, cursor);
    [...strip.children].forEach((item, i) => {
      const button = /** @type {HTMLElement} */ (item.firstElementChild);
      if (i === now) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
      button.classList.toggle("hx-an-later", i > now);
    });
    const here = /** @type {HTMLElement|undefined} */ (strip.children[Math.max(0, now)]);
    if (here && strip.scrollWidth > strip.clientWidth) strip.scrollLeft = here.offsetLeft - strip.clientWidth / 2;
    say(count, SAY.event(now + 1, one.happenings.length));
  }

  function draw() {
    if (el.hidden || !model?.header) return;
    const one = round();
    if (!one) {
      say(title, SAY.none);
      drawn = strung = "";
      strip.replaceChildren();
      picture.replaceChildren();
      verdict.replaceChildren();
      beside.replaceChildren();
      return;
    }
    const at = settled(model, cursor);
    const record = chosen(one);
    const by = choice?.at === event(one) ? choice.level : null;
    const states = one.calls
      .flatMap((call) => call.tiles.map((tile) => stateOf(/** @type {TraceModel} */ (model), tile, call, at)[0]))
      .join("");
    held.show(model, at);
    const key = [model.version, one.place, happened(one, cursor), states, record?.serial, by].join();
    if (key === drawn) return;
    drawn = key;
    const ends = one.tokens.length && at >= one.t1;
    say(title, SAY.title(roundNumber(one.place), model.rounds.length));
    say(facts, ends ? SAY.facts(SAY.tokens(one.tokens.length), timeOf(model, one)) : SAY.waiting);
    string(one);
    const last = one.happenings[happened(one, cursor)] ?? null;
    say(told, sentence(model, one, last));
    say(spent, last?.call ? work(model, last.call.segment) : "");
    const focused = /** @type {HTMLElement|null} */ (document.activeElement);
    const refocus = focused && body.contains(focused) ? focused.dataset.token !== undefined : false;
    const grid = gridOf(model, one, {
      at,
      cursor,
      chosen: record?.serial ?? null,
      call: last?.call ?? null,
      onChoose: choose,
    });
    const seen = { at, call: last?.call ?? null };
    beside.replaceChildren(
      ...brought.rounds.flatMap(({ make }) => make(/** @type {TraceModel} */ (model), one, seen) ?? []),
    );
    const { scrollLeft, scrollTop } = picture;
    picture.replaceChildren(grid);
    Object.assign(picture, { scrollLeft, scrollTop });
    const level = by ?? (last?.call?.segment.kind === "verify" ? last.call.segment.level : null);
    verdict.replaceChildren(
      ...(record
        ? [actOf(model, record, { at, by: level, most: LINES, onLevel: (to) => choose(record.serial, to) })]
        : []),
    );
    reveal(grid, record?.serial ?? null, refocus);
  }

  function reveal(/** @type {HTMLElement} */ grid, /** @type {number|null} */ serial, /** @type {boolean} */ focus) {
    const tile = /** @type {HTMLElement|null} */ (
      [...grid.querySelectorAll(`[data-token="${serial}"]`)].at(-1) ?? grid.querySelector("[data-token]")
    );
    if (!tile) return;
    tile.tabIndex = 0;
    if (focus) tile.focus({ preventScroll: true });
    const side = /** @type {HTMLElement} */ (grid.querySelector(".hx-an-side")).offsetWidth;
    if (
      tile.offsetLeft < picture.scrollLeft + side ||
      tile.offsetLeft + tile.offsetWidth > picture.scrollLeft + picture.clientWidth
    )
      picture.scrollLeft = Math.max(0, tile.offsetLeft - side - picture.clientWidth / 3);
    if (
      tile.offsetTop < picture.scrollTop ||
      tile.offsetTop + tile.offsetHeight > picture.scrollTop + picture.clientHeight
    )
      picture.scrollTop = Math.max(0, tile.offsetTop - picture.clientHeight / 2);
  }

  return {
    el,
    title,
    /** The token that the other views should mark. */
    get selected() {
      const one = round();
      return one ? (chosen(one)?.serial ?? null) : null;
    },
    choose,
    update(/** @type {TraceModel} */ next, /** @type {number} */ to) {
      if (next !== model) {
        drawn = strung = "";
        choice = null;
      }
      model = next;
      cursor = to;
      draw();
    },
    /** Whether the key was one of its own. */
    key(/** @type {string} */ name) {
      if (name === "ArrowRight" || name === "ArrowLeft") player.stepEvent(name === "ArrowRight" ? 1 : -1);
      else if (name === "ArrowUp" || name === "ArrowDown") move(name === "ArrowDown" ? 1 : -1);
      else return false;
      return true;
    },
  };
}

// An event of a round in a sentence, and in a few signs.

/** @param {TraceModel} model @param {Round} round @param {Happening|null} event @returns {string} */
export function sentence(model, round, event) {
  if (!event) return EVENT.begins;
  if (event.kind === "commit") return EVENT.commits(round.tokens.length);
  if (event.kind === "plan") return EVENT.plan;
  const { call } = event;
  const { tag, kind } = model.levels[event.level];
  if (!call) return EVENT.none(tag);
  const said = (/** @type {Tile[]} */ tiles) =>
    tiles.map((x) => QUOTED.token(model.pieceText(x.record.id) || "\u2205"));
  if (call.segment.kind === "draft")
    return EVENT.drafts(
      tag,
      said(call.tiles),
      call.tiles.some((x) => originOf(kind, x.record.source)),
    );
  const of = (/** @type {string} */ outcome) => call.tiles.filter((x) => x.judgement?.outcome === outcome);
  const own = call.tiles.find((x) => x.what === "own");
  return EVENT.verifies(tag, {
    below: "",
    kept: said(of("accepted")),
    rejected: said(of("rejected")),
    rest: of("unjudged").length,
    own: own ? said([own])[0] : null,
    how: own?.record.how ?? "",
  });
}

/** "Q 5→3 +1": who, how many came in and went up, and whether one of its own was added.
 *  @param {TraceModel} model @param {Round} round @param {Happening} event @returns {Node[]} */
export function short(model, round, event) {
  if (event.kind === "commit") return [h("span", `\u2713 ${round.tokens.length}`)];
  if (event.kind === "plan" || !event.call) return [h("span", "\u2026")];
  const { call } = event;
  const level = badge(model.levels[event.level]);
  if (call.segment.kind === "draft") return [level, h("span", `${call.tiles.length}`)];
  const judged = call.tiles.filter((x) => x.what === "check");
  const kept = judged.filter((x) => x.judgement?.outcome === "accepted").length;
  const own = call.tiles.some((x) => x.what === "own") ? "+1" : "";
  const text = judged.length ? `${judged.length}\u2192${kept}${own}` : own || "0";
  const said = h("span", text);
  if (call.segment.rejected) said.className = "hx-an-reject";
  return [level, said];
}

/** What a call cost: its time, its rows, and where a model is shared the layers that it ran.
 *  @param {TraceModel} model @param {Segment} segment */
export function work(model, segment) {
  const rows = segment.rows ? EVENT.rows(segment.rows, segment.catchUp ?? 0, segment.probes ?? 0) : "";
  return [timeOf(model, segment), rows, ranText(segment)].filter(Boolean).join(", ");
}
