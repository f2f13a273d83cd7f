/** One lane as it is drawn: a row of the race (who runs, how far it is, at the end its place and what it gained), and a
 *  column with its text. */

import { h, icon, say } from "../../../shared/kit/dom.js";
import { duration } from "../../../../text/numbers.js";
import { nameOfStack } from "../../../shared/levels/stack-names.js";
import { create as createText } from "../../../shared/text/text.js";
import { clockOf } from "../../../shared/levels/overlap.js";
import { CLOCKS } from "../../../../text/en/lanes.js";
import { LANE, SAID, WORDS } from "../../../../text/en/race.js";
import { badge } from "../../../shared/levels/badge.js";

/** @import {TraceModel} from "../../../shared/run/trace.js" @import {LaneModel} from "./lanes.js" */

/** What is said of a lane. `mark`: its place once all lanes are over, or its letter. `result`: what stands at the end of
 *  its row; `late`: not before all lanes are over. `verdict`: how its text compares.
 *  @typedef {{mark: (over: boolean) => {text: string, place: string}, result: Node[], tip: string|null, late: boolean,
 *    ahead: (t: number, tokens: number) => string, verdict: {text: string, kind: string}}} Says
 *  @typedef {{index: number, most: number, names: Map<string, string>, says: Says, onToken: (at: number) => void, onPlay: () => void,
 *    onSave: () => void}} LaneContext */

/** @param {LaneModel} lane @param {LaneContext} ctx */
export function createLane(lane, ctx) {
  const name = ctx.names.get(lane.stack) ?? "";
  const row = createRow(lane, name, ctx);
  const column = createColumn(lane, name, ctx);
  return {
    row: row.el,
    column: column.el,
    name,
    /** @param {number} t ns since the start @param {number|null} selected a place in the text @param {number} most tokens */
    update(t, selected, most) {
      const tokens = Math.min(most, lane.committedBy(t));
      row.update(t, tokens);
      column.update(t, selected);
      return tokens === lane.tokens;
    },
    /** Whether the whole race is over: then the lane says its place and what it gained. @param {boolean} over */
    reveal(over) {
      row.reveal(over);
      row.el.dataset.result = String(over);
      column.el.dataset.result = String(over);
    },
    destroy: () => column.destroy(),
  };
}

/** @param {LaneModel} lane @param {string} name @param {LaneContext} ctx */
function createRow(lane, name, ctx) {
  const { says } = ctx;
  const place = h("b.hx-race-place", { "data-place": "" });
  const rate = h("b.hx-race-rate", "\u2013");
  const ahead = h("span.hx-race-ahead");
  const way = track(lane, ctx.most, LANE.written(name));
  const count = h("span.hx-race-count");
  const el = h("li.hx-race-row", { "data-lane": String(ctx.index) }, [
    place,
    h("div.hx-race-who", [title("h3", nameOfStack(lane.stack, ctx.names), lane.model), clock(lane.model)]),
    h("div.hx-race-way", [way.el, count]),
    h("div.hx-race-now", { tabindex: "0", "data-tip": WORDS.rate }, [h("span", [rate, LANE.unit]), ahead]),
    h("div.hx-race-result", { "data-late": String(says.late), tabindex: says.tip ? "0" : null, "data-tip": says.tip }, [
      says.result,
    ]),
  ]);
  return {
    el,
    /** @param {number} t @param {number} tokens */
    update(t, tokens) {
      const over = tokens === lane.tokens;
      way.update(tokens);
      say(count, `${tokens}\u2009/\u2009${lane.tokens}`);
      say(rate, SAID.rate(lane.rateAt(t)));
      say(ahead, over ? LANE.took(duration(lane.finish)) : says.ahead(t, tokens));
    },
    /** @param {boolean} over */
    reveal(over) {
      const mark = says.mark(over);
      say(place, mark.text);
      place.dataset.place = mark.place;
    },
  };
}

/** @param {LaneModel} lane @param {string} name @param {LaneContext} ctx */
function createColumn(lane, name, ctx) {
  const { model } = lane;
  const { verdict } = ctx.says;
  const host = h("div.hx-race-text");
  /** @param {() => void} onclick */
  const act = (/** @type {string} */ label, /** @type {string} */ tip, /** @type {SVGElement|null} */ glyph, onclick) =>
    h("button.hx-quiet.hx-race-act", { "aria-label": `${tip}: ${name}`, "data-tip": tip, onclick }, [glyph, label]);
  const el = h("section.hx-panel.hx-race-column", { "aria-label": LANE.textOf(ctx.index + 1, name) }, [
    h("header.hx-race-column-head", [
      title("h4", h("span", { text: name, title: lane.stack }), model),
      clock(model),
      act(WORDS.onPlay, WORDS.onPlayTip, null, ctx.onPlay),
      act("", WORDS.saveLane, icon("save"), ctx.onSave),
    ]),
    host,
    h("p.hx-race-verdict", { "data-same": verdict.kind, text: verdict.text }),
  ]);
  const view = createText(host, {
    onSelect: (serial, /** @type {any} */ { via }) => {
      const at = via === "click" || via === "focus" ? model.committed.indexOf(serial ?? -1) : -1;
      if (at >= 0) ctx.onToken(at);
    },
  });
  return {
    el,
    /** @param {number} t @param {number|null} selected */
    update(t, selected) {
      view.update(model, lane.start + t, {
        ghosts: "hide",
        selected: selected === null ? null : (model.committed[selected] ?? null),
      });
      view.settle();
    },
    destroy: () => view.destroy(),
  };
}

const title = (/** @type {"h3"|"h4"} */ tag, /** @type {HTMLElement} */ name, /** @type {TraceModel} */ { levels }) =>
  h(tag, { class: "hx-race-name" }, [h("span.hx-race-badges", { "aria-hidden": "true" }, levels.map(badge)), name]);

/** Whose clock its times are of, where levels work at the same time. */
function clock(/** @type {TraceModel} */ { header }) {
  const said = CLOCKS[clockOf(header)];
  return said ? h("span.hx-race-clock-word", { tabindex: "0", "data-tip": said.said, text: said.name }) : null;
}

// A text as a strip: a band a token, in the colour of the level that supplied it.

/** @param {LaneModel} lane
 *  @returns {string} a gradient of hard stops over the lane's tokens */
export function bands(lane) {
  const { levels } = lane.model;
  /** @type {{hue: string, from: number, to: number}[]} */
  const runs = [];
  for (let at = 0; at < lane.tokens; at++) {
    const hue = levels[lane.tokenAt(at)?.level ?? 0]?.hue ?? "var(--muted)";
    const last = runs.at(-1);
    if (last?.hue === hue) last.to = at + 1;
    else runs.push({ hue, from: at, to: at + 1 });
  }
  const place = (/** @type {number} */ at) => `${((100 * at) / lane.tokens).toFixed(3)}%`;
  return `linear-gradient(to right, ${runs.map(({ hue, from, to }) => `${hue} ${place(from)} ${place(to)}`).join(", ")})`;
}

/** The track of a lane: how far it is on its way to the finish line, and whose tokens brought it there.
 *  @param {LaneModel} lane @param {number} most tokens of the longest text @param {string} label */
export function track(lane, most, label) {
  const length = lane.tokens / most;
  const paint = h("i.hx-race-paint", { style: { background: bands(lane) } });
  const bar = h("div.hx-race-bar", paint);
  const el = h(
    "div.hx-race-track",
    {
      role: "progressbar",
      "aria-label": label,
      "aria-valuemin": "0",
      "aria-valuemax": String(lane.tokens),
      style: { "--length": String(length) },
    },
    h("div.hx-race-course", bar),
  );
  let shown = -1;
  return {
    el,
    /** @param {number} tokens */
    update(tokens) {
      if (tokens === shown) return;
      shown = tokens;
      const share = lane.tokens ? tokens / lane.tokens : 0;
      bar.style.width = `${100 * share}%`;
      paint.style.width = share ? `${100 / share}%` : "100%";
      el.setAttribute("aria-valuenow", String(tokens));
    },
  };
}
