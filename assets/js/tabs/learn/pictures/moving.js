/** A moment of a recorded run as the picture of a step: its text, its round or its lanes, drawn by what draws them in
 *  Explore. It has a player of its own; while the step's question is open it shows nothing that comes later. */

import { gridOf } from "../../../shared/anatomy/grid.js";
import { happened, placeOf, roundOf, settled, spotlight } from "../../../shared/anatomy/round.js";
import { captionAt } from "../../../shared/caption/caption.js";
import { drawnParts } from "../../../shared/caption/caption-view.js";
import { h, stepButton } from "../../../shared/kit/dom.js";
import { create as createLanes } from "../../../shared/lanes/lanes.js";
import { paceOf, Player } from "../../../shared/player/player.js";
import { create as createLegend } from "../../../shared/text/token/legend.js";
import { create as createText } from "../../../shared/text/text.js";
import { momentOf } from "../figures/run-figures.js";
import { soFar, rollOf } from "../figures/sums.js";
import { frame } from "./frame.js";
import { MOVING, ROLL } from "../../../../text/en/pictures.js";
import { levelBadge } from "../../../shared/levels/badge.js";
import { timeOf } from "../../../shared/levels/stated.js";

/** @import {Round} from "../../../shared/anatomy/round.js" @import {TraceModel} from "../../../shared/run/trace.js"
 *  @import {RollLine} from "../figures/sums.js" @import {Picture, PictureContext} from "./frame.js" */

/** @param {PictureContext} ctx @returns {Picture} */
export function movingPicture(ctx) {
  const { model, figure, step, open } = ctx;
  const { at, limit, from } = stretchOf(ctx);
  const view = VIEWS[figure.kind](ctx, (t) => seek(t));
  const player = new Player(() => draw());
  const seek = (/** @type {number} */ t) => player.seek(Math.min(t, limit));
  const on = () => {
    const next = model.markAfter(player.cursor);
    if (next && next.t <= limit) player.stepEvent(1);
  };
  const play = () => {
    if (player.cursor >= limit) player.seek(from);
    const { seconds = 4 } = (open ? null : step.reveal?.action) ?? {};
    player.speed = paceOf(limit - player.cursor, [seconds * 0.8, seconds * 1.2]);
    player.play(limit);
  };
  const buttons = h("span.hx-sketch-buttons", [
    stepButton(-1, MOVING.back, () => player.cursor > from && player.stepEvent(-1)),
    h("button.hx-quiet", { text: MOVING.play, onclick: () => play() }),
    stepButton(1, MOVING.on, on),
  ]);
  const { el, caption } = frame(figure.kind, MOVING.label(figure.kind), [view.el], from < limit ? [buttons] : []);
  const silent = open && (at >= model.end || ctx.hides.length > 0);
  let told = "";

  function draw() {
    const { cursor } = player;
    view.update(cursor);
    if (silent) return;
    const said = captionAt(model, cursor);
    if (said.key === told) return;
    told = said.key;
    caption.classList.add("hx-caption");
    caption.replaceChildren(...drawnParts(said.parts, model));
  }

  player.attach(model);
  if (ctx.fresh && at < limit && !player.reduced) {
    seek(at);
    requestAnimationFrame(() => el.isConnected && play());
  } else seek(open ? at : limit);
  return { el, end: () => player.destroy() };
}

/** When the picture stands, how far and from where it plays, ns. @param {PictureContext} ctx */
function stretchOf({ model, figure, step, open }) {
  const words = figure.at ?? step.action?.at ?? "end";
  const at = momentOf(model, words) ?? model.end;
  const until = figure.to ?? step.reveal?.action?.play ?? null;
  const round = model.rounds[placeOf(model, at)];
  const later = until
    ? momentOf(model, until)
    : words === "end"
      ? model.end
      : words === "start"
        ? at
        : (round?.t1 ?? at);
  const limit = open ? at : Math.max(at, later ?? at);
  return { at, limit, from: Math.min(round?.t0 ?? 0, limit) };
}

/** @type {Record<string, (ctx: PictureContext, seek: (t: number) => void) => {el: HTMLElement, update: (cursor: number) => void}>} */
const VIEWS = {
  roll: rollView,

  text({ model, figure }) {
    const el = h("div.hx-sketch-text");
    const text = createText(el);
    const legend = createLegend(el, el);
    return {
      el,
      update(cursor) {
        const opts = { colourBy: figure.colour ?? "level", moves: 1 };
        text.update(model, cursor, opts);
        legend.update(model, cursor, opts);
        text.settle();
      },
    };
  },

  lanes({ model, figure, open }) {
    const el = h("div.hx-sketch-lanes");
    const lanes = createLanes(el);
    const [from, to] = (figure.between ?? []).map((words) => momentOf(model, words));
    const between = from == null || to == null ? null : /** @type {[number, number]} */ ([from, to]);
    return { el, update: (cursor) => lanes.update(model, cursor, { veiled: open, between, present: true }) };
  },

  round({ model, open }) {
    const el = h("div.hx-an-picture.hx-sketch-round");
    let drawn = "";
    return {
      el,
      update(cursor) {
        const whole = roundOf(model, placeOf(model, cursor));
        const at = settled(model, cursor);
        const now = whole ? happened(whole, cursor) : -1;
        const key = `${whole?.place} ${now} ${at >= (whole?.happenings[now]?.call?.segment.t1 ?? 0)}`;
        if (!whole || key === drawn) return;
        drawn = key;
        const round = open ? soFar(whole, at) : whole;
        const chosen = spotlight(whole, cursor)?.serial ?? null;
        const call = whole.happenings[now]?.call ?? null;
        const shown = call && round.calls.find((one) => one.segment === call.segment);
        el.replaceChildren(gridOf(model, round, { at, cursor, chosen, call: shown ?? null, onChoose: () => {} }));
      },
    };
  },
};

// The recursion of a round as a roll of calls: each line is a call, further in the cheaper its level, with its time
// on the round's clock. Lines that have not happened are not there while a question is open, and pale afterwards.

/** @param {PictureContext} ctx @param {(t: number) => void} seek */
function rollView({ model, open }, seek) {
  const el = h("ol.hx-roll", { tabindex: "0", "aria-label": ROLL.label });
  let drawn = "";
  return {
    el,
    update(/** @type {number} */ cursor) {
      const round = roundOf(model, placeOf(model, cursor));
      if (!round) return;
      const lines = rollOf(model, round);
      const happened = lines.filter((line) => line.t1 <= cursor).length;
      const key = `${round.place} ${happened}`;
      if (key === drawn) return;
      drawn = key;
      const shown = open ? lines.slice(0, happened) : lines;
      const span = round.t1 - round.t0;
      el.replaceChildren(
        ...shown.map((line, i) =>
          row(model, round, line, { span, now: i === happened - 1, later: i >= happened }, seek),
        ),
      );
      const here = /** @type {HTMLElement|undefined} */ (el.children[Math.max(0, happened - 1)]);
      if (here && el.scrollHeight > el.clientHeight) el.scrollTop = here.offsetTop - el.clientHeight / 2;
    },
  };
}

/** @param {TraceModel} model @param {Round} round @param {RollLine} line
 *  @param {{span: number, now: boolean, later: boolean}} how @param {(t: number) => void} seek */
function row(model, round, line, { span, now, later }, seek) {
  const level = model.levels[line.level];
  const below = model.levels[line.level - 1] ?? null;
  const said = ROLL[line.what]({ ...line, below: below?.tag ?? "", above: model.levels[line.level + 1]?.tag ?? "" });
  const wide = line.t1 > line.t0;
  return h(
    "li",
    {
      "data-what": line.what,
      "data-later": later ? "1" : null,
      "aria-current": now ? "step" : null,
      style: { "--hue": level.hue, "--depth": String(line.depth) },
    },
    [
      h("button.hx-roll-line", { onclick: () => seek(line.t1) }, [
        levelBadge(level),
        h("span.hx-sr", level.tag),
        h("span", said),
      ]),
      h("span.hx-roll-time", { "aria-hidden": "true" }, [
        wide &&
          !later &&
          h("i", {
            style: { "--from": String((line.t0 - round.t0) / span), "--part": String((line.t1 - line.t0) / span) },
          }),
      ]),
      h("small", wide && !later ? timeOf(model, line) : ""),
    ],
  );
}
