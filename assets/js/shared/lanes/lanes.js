/** A lane per level on one clock, the target on top: what each level computed, when, and for how long. Widths are
 *  measured time; nothing drawn means idle. The whole run in replay, the last seconds in a live run. */

import { drawBlocks, scaleOf, skeleton } from "./lane-blocks.js";
import { summary, tipLines } from "./lane-words.js";
import { brought } from "../../systems/index.js";
import { clockOf, lanesUsed } from "../levels/overlap.js";
import { pictureButton } from "../kit/picture/button.js";
import { roundUp, set, svg } from "../kit/svg.js";
import { duration } from "../../../text/numbers.js";
import { element } from "../kit/dom.js";
import { LANES } from "../../../text/en/lanes.js";

/** @import {Plan} from "../run/events.js" @import {Segment, TraceModel} from "../run/trace.js"
 *  @import {Built} from "./lane-blocks.js" */

const WINDOW_ROUNDS = 8;
const SUMMARY_MS = 2000; // between two summaries of a live run

/** @typedef {{onSeek?: (ns: number) => void, onRound?: (round: number|null) => void}} Context */
/** veiled: what comes after the cursor is not drawn, nor are totals told; between: the times (ns) at the left and right edge, where a part
 *  of a run is shown; round: one that is singled out; present: whether it is read from the back of a room
 *  @typedef {{live?: boolean, veiled?: boolean, between?: [number, number]|null, round?: number|null, present?: boolean}} Options
 */

/** @param {Element} host @param {Context} [ctx] */
export function create(host, ctx = {}) {
  const el = host.appendChild(element("section", "hx-lanes"));
  el.setAttribute("aria-label", LANES.label);
  const lanes = new Lanes(el, ctx);
  lanes.plot.append(
    pictureButton(
      () => lanes.plot,
      () => LANES.picture(lanes.clock),
    ),
  );
  return {
    el,
    update(/** @type {TraceModel|null} */ model, /** @type {number} */ cursor, /** @type {Options} */ opts = {}) {
      if (model?.header) lanes.update(model, cursor, opts);
    },
    destroy() {
      lanes.destroy();
      el.remove();
    },
  };
}

class Lanes {
  constructor(/** @type {HTMLElement} */ el, /** @type {Context} */ ctx) {
    this.ctx = ctx;
    /** @type {boolean|null} */ this.whole = null; // null: by mode; otherwise the reader's choice
    /** @type {TraceModel} */ this.model = /** @type {any} */ (null); // nothing is drawn before there is one
    this.told = -Infinity; // when the summary was written
    this.veiled = false;
    this.own = false;
    this.cursor = 0;
    this.live = false;
    this.dragging = false;
    this.span = 0; // ns, of a live run
    this.key = ""; // of what is drawn
    /** @type {Built|null} */ this.built = null;
    /** @type {Segment|null} */ this.pointed = null;
    /** @type {number|null} */ this.round = null;
    /** @type {[number, number]|null} */ this.between = null;
    this.scale = scaleOf(0, 1, 0, 0, 0); // without width until something is drawn
    this.plot = el.appendChild(element("div", "hx-lane-plot"));
    this.names = this.plot.appendChild(element("ol", "hx-lane-names"));
    this.names.setAttribute("aria-hidden", "true");
    this.area = this.plot.appendChild(element("div", "hx-lane-area"));
    this.root = svg("svg.hx-lane-svg", { role: "img" }, this.area);
    // What moves lies on a sheet of its own: the blocks below it, thousands in a long run, are painted once.
    this.over = svg("svg.hx-lane-over", { "aria-hidden": "true" }, this.area);
    this.tip = this.area.appendChild(element("div", "hx-lane-tip"));
    this.tip.hidden = true;
    this.fit = this.plot.appendChild(element("button", "hx-lane-fit"));
    this.fit.type = "button";
    this.table = el.appendChild(element("table", "hx-sr"));
    this.listening = new AbortController();
    /** @param {HTMLElement} node @param {string} type @param {(event: PointerEvent) => void} f */
    const on = (node, type, f) =>
      node.addEventListener(type, /** @type {EventListener} */ (f), { signal: this.listening.signal });
    on(this.fit, "click", () => this._toggle());
    on(this.area, "pointerdown", (e) => this._press(e));
    on(this.area, "pointermove", (e) => this._move(e));
    on(this.area, "pointerup", () => (this.dragging = false));
    on(this.area, "pointercancel", () => (this.dragging = false));
    on(this.area, "pointerleave", () => this._point(null));
    const { onSeek } = ctx;
    const own = { onSeek, redraw: () => this._redraw(), signal: this.listening.signal };
    this.parts = brought.lanes.map(({ create }) => create(this.area, el, own));
    this.width = 0; // of the area; asked for here alone, as every question would have the page laid out at once
    this.resizing = new ResizeObserver(() => {
      this.width = this.area.clientWidth;
      this._redraw();
    });
    this.resizing.observe(this.area);
  }

  destroy() {
    this.listening.abort();
    this.resizing.disconnect();
  }

  /** Whose clock the shown run's times are of; "" where one level works after another. */
  get clock() {
    return clockOf(this.model?.header);
  }

  /** @param {TraceModel} model @param {number} cursor @param {Options} options */
  update(model, cursor, { live = false, veiled = false, between = null, round = null, present = false } = {}) {
    if (model !== this.model) {
      this.model = model;
      this.built = null;
      this.whole = null;
      this.told = -Infinity;
      this._point(null);
      const lanes = lanesUsed(model.header);
      this.root
        .closest(".hx-lanes")
        ?.setAttribute("aria-label", (lanes > 1 && LANES.labelOf[clockOf(model.header)]?.(lanes)) || LANES.label);
      for (const part of this.parts) part.attend(model);
    }
    this.round = round;
    this.own = present || between !== null;
    this.cursor = cursor;
    this.live = live;
    this.between = between;
    if (veiled !== this.veiled) {
      this.veiled = veiled;
      this.told = -Infinity;
      this._point(null);
    }
    this._redraw();
  }

  /** Up to when calls are drawn, ns. */
  get until() {
    return this.veiled ? this.cursor : Infinity;
  }

  _toggle() {
    this.whole = !(this.whole ?? !this.live);
    this._redraw();
  }

  /** The times at the left and right edge, ns. @returns {[number, number]} */
  _view() {
    const { model, cursor, between } = this;
    if (between) return between;
    const whole = this.whole ?? !this.live;
    if (whole) return [0, Math.max(model.end, 1e6)];
    const rounds = model.rounds.length || 1;
    const first = model.rounds[0]?.t0 ?? 0;
    const wanted = Math.max(((model.end - first) / rounds) * WINDOW_ROUNDS, 1e6);
    if (!this.span || this.span > wanted * 2.2 || this.span < wanted / 1.4)
      this.span = roundUp(wanted, [1, 1.5, 2, 3, 5, 7, 10]);
    const right = Math.max(cursor + (this.live ? 0 : this.span * 0.25), this.span);
    return [right - this.span, right];
  }

  _redraw() {
    const { model, width } = this;
    if (!model?.header || !width) return;
    const count = model.levels.length;
    const wide = innerWidth >= 1800;
    const lane = count > 4 ? (wide ? 24 : 17) : wide ? 32 : 22;
    const [a, b] = this._view();
    const key = [model.version, width, a, b, lane, this.until].join();
    this.scale = scaleOf(a, b, width, lane, count);
    if (key !== this.key || !this.built) {
      this.key = key;
      this.built = skeleton(model, this.scale, this, this.built);
      drawBlocks(model, this.built, this.scale, this.until);
      for (const part of this.parts) part.blocks(model, this.scale, this.until);
      if (!this.live || model.footer || performance.now() - this.told > SUMMARY_MS) this._summary();
    }
    this._rest(model.planAt(this.cursor));
    for (const part of this.parts) part.draw(this, this.scale);
    const x = this.scale.x(this.cursor);
    const high = lane * count;
    set(this.built.veil, { x: Math.max(0, x), width: Math.max(0, width - x), height: high });
    set(this.built.cursor, { transform: `translate(${x.toFixed(1)} 0)` });
    const whole = this.whole ?? !this.live;
    const label = whole ? LANES.whole : LANES.last;
    if (this.fit.textContent !== label) {
      this.fit.textContent = label;
      this.fit.title = whole ? LANES.shownWhole : LANES.shownLast;
      this.fit.setAttribute("aria-label", this.fit.title);
    }
  }

  /** Levels that the plan of the shown round leaves out stand back. */
  _rest(/** @type {Plan|null} */ plan) {
    if (!this.built || plan === this.built.plan) return;
    this.built.plan = plan;
    [.../** @type {HTMLCollectionOf<HTMLElement>} */ (this.names.children)].reverse().forEach((item, i) => {
      const rests = plan !== null && !plan.levels.includes(i);
      item.classList.toggle("hx-resting", rests);
      const { name } = this.model.levels[i];
      item.title = rests ? LANES.rests(name) : name;
    });
  }

  // --- pointer ---

  _time(/** @type {PointerEvent} */ event) {
    const left = this.area.getBoundingClientRect().left;
    const { a, b, width } = this.scale;
    return a + ((event.clientX - left) / width) * (b - a);
  }

  _press(/** @type {PointerEvent} */ event) {
    if (!this.scale.width || event.button !== 0) return;
    this.dragging = true;
    this.area.setPointerCapture(event.pointerId);
    this._point(null);
    this.ctx.onSeek?.(this._time(event));
    event.preventDefault();
  }

  _move(/** @type {PointerEvent} */ event) {
    if (!this.scale.width) return;
    if (this.dragging) this.ctx.onSeek?.(this._time(event));
    else this._point(this._under(event), event);
  }

  _under(/** @type {PointerEvent} */ event) {
    const { lane, count, a, b, width } = this.scale;
    const level = count - 1 - Math.floor((event.clientY - this.root.getBoundingClientRect().top) / lane);
    const t = this._time(event);
    const slack = ((b - a) / width) * 2;
    const near = (/** @type {Segment} */ s) => s.t0 <= t + slack && s.t1 >= t - slack && s.t1 <= this.until;
    const mine = this.model.segments.filter((s) => s.level === level && near(s));
    const off = (/** @type {Segment} */ s) => Math.max(s.t0 - t, t - s.t1, 0);
    return mine.sort((p, q) => off(p) - off(q))[0] ?? null;
  }

  /** @param {Segment|null} segment @param {PointerEvent|null} event */
  _point(segment, event = null) {
    if (segment !== this.pointed) {
      this.pointed = segment;
      this.ctx.onRound?.(segment?.round ?? null);
      this.tip.hidden = !segment;
      if (this.built) set(this.built.hot, segment ? this._frame(segment) : { width: 0 });
      if (segment) this.tip.replaceChildren(...tipLines(segment, this.model.levels[segment.level]));
    }
    if (!segment || !event) return;
    const x = event.clientX - this.area.getBoundingClientRect().left;
    const right = x + 14 + this.tip.offsetWidth > this.scale.width;
    this.tip.style.translate = `${Math.round(right ? Math.max(0, x - 14 - this.tip.offsetWidth) : x + 14)}px 0`;
  }

  _frame(/** @type {Segment} */ s) {
    const { x, y, lane, width } = this.scale;
    const [left, right] = [Math.max(0, x(s.t0)), Math.min(width, x(s.t1))];
    return { x: left, y: y(s.level) + 1.5, width: Math.max(2, right - left), height: lane - 3 };
  }

  /** The same for those who hear the page. */
  _summary() {
    this.told = performance.now();
    const whole = LANES.timeline(this.model.rounds.length, duration(this.model.end));
    this.root.setAttribute("aria-label", this.veiled ? LANES.label : whole);
    this.table.replaceChildren(...(this.veiled ? [] : summary(this.model)));
  }
}
