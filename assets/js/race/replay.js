/** A race, replayed: the clock on top, below it the lanes, on one clock. */

import { h, say } from "../dom.js";
import { Player } from "../player.js";
import { duration } from "../svg.js";
import { create as createTransport } from "../transport.js";
import { Field } from "./field.js";
import { createLane } from "./lane.js";
import { finishedText, WORDS } from "./race-words.js";

const LASTS_S = /** @type {[number, number]} */ ([8, 15]);

/**
 * @param {{onPlay: (lane: import("./lane-model.js").LaneModel) => void,
 *   onSave: (lane: import("./lane-model.js").LaneModel) => void}} ctx
 */
export function createReplay(ctx) {
  const rows = h("ol", { class: "hx-race-rows", "aria-label": WORDS.lanes });
  const bar = h("div", { class: "hx-race-clock" });
  const texts = h("div", { class: "hx-race-texts", role: "group", "aria-label": WORDS.texts });
  const spoken = h("p", { class: "hx-sr", role: "status", "aria-live": "polite" });
  const el = h(
    "div",
    { class: "hx-race-replay" },
    h("div", { class: "hx-panel hx-race-board" }, bar, rows),
    texts,
    spoken,
  );
  /** @type {Field|null} */ let field = null;
  /** @type {ReturnType<typeof createLane>[]} */ let lanes = [];
  /** @type {number|null} */ let selected = null;
  let frame = 0;
  let told = new Set();
  const player = new Player(() => schedule(), { lasts: LASTS_S });
  const transport = createTransport(bar, {
    player,
    label: WORDS.playback,
    words: (model, cursor) =>
      model ? `${duration(Math.min(cursor, model.end))}\u2009/\u2009${duration(model.end)}` : "",
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
    const over = shown.lanes.map((lane, i) => lanes[i].update(shown.at(lane, cursor), selected));
    const all = over.every(Boolean);
    for (const lane of lanes) lane.reveal(all);
    transport.update(field, cursor);
    el.dataset.over = String(all);
    announce(over);
  }

  /** @param {boolean[]} over */
  function announce(over) {
    over.forEach((done, i) => {
      const lane = field?.lanes[i];
      if (!done) return void told.delete(i);
      if (told.has(i) || !lane) return;
      told.add(i);
      say(spoken, finishedText(lanes[i].name, lane.row.place, lane.finish));
    });
  }

  return {
    el,
    player,
    /**
     * @param {import("./lane-model.js").LaneModel[]} models
     * @param {{sampled: boolean, repeats: any[][]}} race
     */
    show(models, { sampled, repeats }) {
      for (const lane of lanes) lane.destroy();
      field = new Field(models);
      selected = null;
      told = new Set();
      lanes = models.map((lane, index) =>
        createLane(lane, {
          index,
          most: field?.most ?? 1,
          first: models[0],
          sampled,
          repeats,
          onToken: (at) => {
            selected = at;
            schedule();
          },
          onPlay: () => ctx.onPlay(lane),
          onSave: () => ctx.onSave(lane),
        }),
      );
      texts.style.setProperty("--lanes", String(models.length));
      rows.replaceChildren(...lanes.map((lane) => lane.row));
      texts.replaceChildren(...lanes.map((lane) => lane.column));
      player.attach(field);
      draw();
      if (player.reduced) player.seek(player.end);
      else player.play();
    },
  };
}
