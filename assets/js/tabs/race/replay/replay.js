/** A race, replayed: the clock on top, below it the lanes, on one clock. */

import { h, say } from "../../../shared/kit/dom.js";
import { stackNames } from "../../../shared/levels/stack-names.js";
import { Player } from "../../../shared/player/player.js";
import { create as createTransport } from "../../../shared/player/transport.js";
import { Field } from "./lanes.js";
import { createLane } from "./lane.js";
import { LANE, SAID, WORDS } from "../../../../text/en/race.js";
import { duration } from "../../../../text/numbers.js";
import { spoken } from "../../../shared/text/token/token.js";

/** @import {Says} from "./lane.js" @import {Align, LaneModel} from "./lanes.js" */

const LASTS_S = /** @type {[number, number]} */ ([8, 15]);

/** @param {{onPlay: (lane: LaneModel) => void,
 *    onSave: (lane: LaneModel) => void}} ctx */
export function createReplay(ctx) {
  const rows = h("ol.hx-race-rows", { "aria-label": WORDS.lanes });
  const bar = h("div.hx-race-clock");
  const texts = h("div.hx-race-texts", { role: "group", "aria-label": WORDS.texts });
  const chosen = h("p.hx-race-chosen", { "aria-live": "polite" });
  const spoken = h("p.hx-sr", { role: "status", "aria-live": "polite" });
  const el = h("div.hx-race-replay", [h("div.hx-panel.hx-race-board", [bar, rows, chosen]), texts, spoken]);
  /** @type {Field|null} */ let field = null;
  /** @type {ReturnType<typeof createLane>[]} */ let lanes = [];
  /** @type {number|null} */ let selected = null;
  /** @type {Says[]} */ let says = [];
  let frame = 0;
  let told = new Set();
  const player = new Player(() => schedule(), { lasts: LASTS_S });
  const transport = createTransport(bar, {
    player,
    label: WORDS.playback,
    words: (model, cursor) => (model ? model.clockText(cursor) : ""),
  });

  function schedule() {
    if (frame) return;
    frame = requestAnimationFrame(() => {
      frame = 0;
      draw();
    });
  }

  function draw() {
    if (!field) return;
    const { cursor } = player;
    const shown = field;
    const most = shown.align === "token" ? shown.tokensAt(cursor) : Infinity;
    if (most !== Infinity) follow(most);
    const over = shown.lanes.map((lane, i) => lanes[i].update(shown.at(lane, cursor), selected, most));
    const all = over.every(Boolean);
    for (const lane of lanes) lane.reveal(all);
    transport.update(field, cursor, {});
    el.dataset.over = String(all);
    announce(over);
  }

  /** Token by token, the last one is the one that is chosen. @param {number} tokens */
  function follow(tokens) {
    chosen.setAttribute("aria-live", player.playing ? "off" : "polite");
    const last = tokens ? tokens - 1 : null;
    if (last === selected) return;
    selected = last;
    tokenLine();
  }

  /** @param {boolean[]} over */
  function announce(over) {
    over.forEach((done, i) => {
      const lane = field?.lanes[i];
      if (!done) return void told.delete(i);
      if (told.has(i) || !lane || !("place" in lane.row)) return; // of two runs that are compared nobody finishes
      told.add(i);
      const places = over.every(Boolean)
        ? SAID.places(lanes.map(({ name }, at) => [says[at].mark(true).text, name]))
        : "";
      say(spoken, `${SAID.finished(lanes[i].name, lane.finish)} ${places}`.trim());
    });
  }

  function tokenLine() {
    if (selected === null || !field) return say(chosen, WORDS.chooseToken);
    const at = selected;
    const parts = field.lanes.map((lane, i) => tokenText(lane, at, says[i].mark(false).text || LANE.nth(i + 1)));
    say(chosen, `${WORDS.token} ${at + 1}. ${parts.join(" \u00b7 ")}`);
  }

  return {
    el,
    player,
    /** @param {LaneModel[]} models
     *  @param {{says: Says[], align?: Align, between?: Node|null,
     *    still?: boolean}} how between: what stands below the rows; still: it does not start by itself */
    show(models, how) {
      for (const lane of lanes) lane.destroy();
      const shown = new Field(models, how.align);
      field = shown;
      says = how.says;
      selected = null;
      told = new Set();
      const names = stackNames(models.map(({ stack }) => stack));
      lanes = models.map((lane, index) =>
        createLane(lane, {
          index,
          names,
          most: shown.most,
          says: says[index],
          onToken: (at) => {
            if (shown.align === "token") {
              player.pause();
              return player.seek(shown.cursorOf(lane, at));
            }
            selected = at;
            tokenLine();
            schedule();
          },
          onPlay: () => ctx.onPlay(lane),
          onSave: () => ctx.onSave(lane),
        }),
      );
      texts.style.setProperty("--lanes", String(models.length));
      rows.replaceChildren(...lanes.map((lane) => lane.row), ...(how.between ? [how.between] : []));
      texts.replaceChildren(...lanes.map((lane) => lane.column));
      tokenLine();
      player.attach(shown);
      draw();
      if (player.reduced) player.seek(player.end);
      else if (!how.still) player.play();
    },
  };
}

// A token that is chosen, in words: in each lane who supplied it, who passed it, and when it stood in the text.

/** @param {LaneModel} lane @param {number} at @param {string} who */
export function tokenText(lane, at, who) {
  const record = lane.tokenAt(at);
  if (!record) return `${who}: ${WORDS.shorter}`;
  return LANE.token(who, spoken(record, lane.model, Infinity), duration(lane.times[at]));
}
