/** The whole run in its measured time, beside plain decoding in its own: two texts on one clock, and how many times as
 *  fast the one is. */

import { h, say } from "../../../shared/kit/dom.js";
import { upTo } from "../../../shared/kit/order.js";
import { ofRun, stated, timeOf } from "../../../shared/levels/stated.js";
import { splitCells } from "../../../shared/run/cells.js";
import { plainSpeed, speedUp } from "../../../shared/run/figures.js";
import { begunAt, plainTimeOf } from "./scenes.js";
import { STORY } from "../../../../text/en/story.js";
import { duration, ratio, restOf, rounded } from "../../../../text/numbers.js";

/** @import {Round} from "../../../shared/anatomy/round.js" @import {TraceModel} from "../../../shared/run/trace.js"
 *  @import {Moment, PlainWord} from "./scenes.js" */

/** @param {TraceModel} model */
export function runPicture(model) {
  const start = begunAt(model);
  const top = model.levels.length - 1;
  const records = model.committed.map((serial) => /** @type {any} */ (model.tokens.get(serial)));
  const stack = pane(
    STORY.together,
    written(model, records),
    model.commitTimes.map((t) => t - start),
  );
  const { ids = [], token_ns: times = [] } = model.baseline ?? {};
  const plain = ids.slice(0, times.length).map((id) => ({ id, level: top }));
  const lone = pane(STORY.alone, written(model, plain), times);
  const value = h("b.hx-story-gain");
  const rates = h("span.hx-story-rates");
  const where = h("span.hx-story-rates", STORY.where(model.header?.machine ?? ""));
  const figure = h("p.hx-story-figure", [value, h("span", [h("span", STORY.gain), rates, where])]);
  const el = h("div.hx-story-run", [figure, h("div.hx-story-panes", [stack.el, lone.el])]);
  const speed = plainSpeed(model.baseline);
  return {
    el,
    /** @param {number} since ns since decoding began */
    show(since) {
      const cursor = Math.min(model.end, start + since);
      const gain = speedUp(model, cursor);
      const now = model.snapshotAt(cursor)?.tokens_per_s ?? null;
      const of = (/** @type {string} */ what, /** @type {string} */ text) =>
        cursor < model.end ? text : stated(what, ofRun(model.header), text);
      say(value, gain === null ? "\u2013" : `${of("speed_up", ratio(gain))}\u00d7`);
      const both = now === null || speed === null ? null : [of("tokens_per_s", rounded(now)), rounded(speed)];
      say(rates, both ? STORY.against(both[0], of("plain_tokens_per_s", both[1])) : "");
      stack.show(since);
      lone.show(since);
    },
  };
}

/** Tokens as cells of text, each with the place of its last token.
 *  @param {TraceModel} model @param {{id: number, level: number}[]} tokens */
function written(model, tokens) {
  const cells = splitCells(
    tokens.map(({ id }, serial) => ({ id, serial })),
    (/** @type {number} */ id) => model.piece(id),
  );
  return cells.map(({ text, special, serials }) => {
    const { hue, underline } = model.levels[tokens[serials[0]].level];
    const el = h("span.hx-story-tok", { "data-line": underline, style: { "--hue": hue } });
    const [, lead, body] = (special ? "" : text).match(/^(\s*)([^]*)$/) ?? [];
    el.textContent = body;
    return { el: h("span", [lead, el]), last: serials[serials.length - 1] };
  });
}

/** A text that is written on the clock. @param {string} name @param {{el: HTMLElement, last: number}[]} cells @param {number[]} times ns, of each token */
function pane(name, cells, times) {
  const clock = h("b");
  const text = h("p.hx-story-written", { dir: "auto" }, [cells.map((cell) => cell.el)]);
  const el = h("section.hx-story-pane", [h("h2", [h("span", name), clock]), text]);
  const ends = times.at(-1) ?? 0;
  let there = -1;
  return {
    el,
    /** @param {number} since ns */
    show(since) {
      const count = upTo(times, since, (t) => t);
      say(clock, duration(Math.min(since, ends)));
      el.classList.toggle("hx-story-done", since >= ends);
      if (count === there) return;
      there = count;
      for (const cell of cells) cell.el.classList.toggle("hx-story-there", cell.last < count);
    },
  };
}

// ---- What the words of a round took, with the small levels and without: two bars of one scale, each part in its level's
// colour.

/** @param {TraceModel} model @param {Round} round @param {PlainWord[]} plain */
export function timeBars(model, round, plain) {
  const whole = plain.reduce((sum, word) => sum + word.ns, 0);
  const took = round.t1 - round.t0;
  const longest = Math.max(whole, took);
  const top = model.levels.length - 1;
  const part = (/** @type {number} */ level, /** @type {number} */ ns) => {
    const { hue, underline } = model.levels[level];
    return h("i", { "data-line": underline, style: { "--hue": hue, "--share": String(ns / longest) } });
  };
  const stack = bar(
    STORY.together,
    round.calls.map(({ segment }) => part(segment.level, segment.t1 - segment.t0)),
  );
  const around = restOf(
    round.calls.map(({ segment }) => (segment.t1 - segment.t0) / 1e6),
    took / 1e6,
  );
  const lone = bar(
    STORY.alone,
    plain.map(({ ns }) => part(top, ns)),
  );
  const el = h("div.hx-story-bars", [lone.el, stack.el]);
  say(stack.time, timeOf(model, round));
  stack.el.append(h("small.hx-story-around", STORY.around(around * 1e6)));
  return {
    el,
    /** @param {Moment} moment */
    show({ scene, nth }) {
      el.classList.toggle("hx-story-shown", scene === 2);
      lone.parts.forEach((one, i) => one.classList.toggle("hx-story-there", i < nth));
      say(lone.time, nth ? plainTimeOf(model, plain.slice(0, nth)) : "");
    },
  };
}

/** @param {string} name @param {HTMLElement[]} parts */
function bar(name, parts) {
  const time = h("b");
  const el = h("div.hx-story-bar", [h("span", name), h("div", parts), time]);
  return { el, parts, time };
}
