/** A lane per level on one clock, the target on top: what each level computed, when, and for how long. Widths are
 *  measured time; nothing drawn means idle. The whole run in replay, the last seconds in a live run. */

import { create as createCharts } from "./charts.js";
import { pictureButton } from "./picture/button.js";
import { passesText, ranText } from "./ran.js";
import { box, duration, roundUp, set, svg, ticks } from "./svg.js";
import { element } from "./token.js";
import { LANES } from "./words/lanes.js";

const WINDOW_ROUNDS = 8;
const LABEL_WIDTH = 34; // px a block needs to carry its counts
const AXIS = 18; // px
const SUMMARY_MS = 2000; // between two summaries of a live run
const NARROW = 2; // px: blocks below that which stand closer than CLOSE are drawn as one, thousands in a long run
const CLOSE = 1;

/** ctx: {onSeek?(ns), onRound?(round|null)}. opts of update: {live}. */
export function create(host, ctx = {}) {
  const el = host.appendChild(element("section", "hx-lanes"));
  el.setAttribute("aria-label", LANES.label);
  const lanes = new Lanes(el, ctx);
  lanes.plot.append(
    pictureButton(
      () => lanes.plot,
      () => LANES.picture,
    ),
  );
  const charts = createCharts(el);
  return {
    el,
    update(model, cursor, opts = {}) {
      if (!model?.header) return;
      lanes.update(model, cursor, opts);
      charts.update(model, cursor);
    },
    destroy() {
      lanes.destroy();
      charts.destroy();
      el.remove();
    },
  };
}

class Lanes {
  constructor(el, ctx) {
    this.ctx = ctx;
    this.whole = null; // null: by mode; otherwise the reader's choice
    this.model = null;
    this.told = -Infinity; // when the summary was written
    this.scale = scaleOf(0, 1, 0, 0, 0); // without width until something is drawn
    this.plot = el.appendChild(element("div", "hx-lane-plot"));
    this.names = this.plot.appendChild(element("ol", "hx-lane-names"));
    this.names.setAttribute("aria-hidden", "true");
    this.area = this.plot.appendChild(element("div", "hx-lane-area"));
    this.root = svg("svg", { class: "hx-lane-svg", role: "img" }, this.area);
    // What moves lies on a sheet of its own: the blocks below it, thousands in a long run, are painted once.
    this.over = svg("svg", { class: "hx-lane-over", "aria-hidden": "true" }, this.area);
    this.tip = this.area.appendChild(element("div", "hx-lane-tip"));
    this.tip.hidden = true;
    this.fit = this.plot.appendChild(element("button", "hx-lane-fit"));
    this.fit.type = "button";
    this.table = el.appendChild(element("table", "hx-sr"));
    this.listening = new AbortController();
    const on = (node, type, f) => node.addEventListener(type, f, { signal: this.listening.signal });
    on(this.fit, "click", () => this._toggle());
    on(this.area, "pointerdown", (e) => this._press(e));
    on(this.area, "pointermove", (e) => this._move(e));
    on(this.area, "pointerup", () => (this.dragging = false));
    on(this.area, "pointercancel", () => (this.dragging = false));
    on(this.area, "pointerleave", () => this._point(null));
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

  update(model, cursor, { live = false } = {}) {
    if (model !== this.model) {
      this.model = model;
      this.built = null;
      this.whole = null;
      this.told = -Infinity;
      this._point(null);
    }
    this.cursor = cursor;
    this.live = live;
    this._redraw();
  }

  _toggle() {
    this.whole = !(this.whole ?? !this.live);
    this._redraw();
  }

  /** The times at the left and right edge, ns. */
  _view() {
    const { model, cursor } = this;
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
    const key = [model.version, width, a, b, lane].join();
    this.scale = scaleOf(a, b, width, lane, count);
    if (key !== this.key || !this.built) {
      this.key = key;
      this._skeleton();
      this._blocks();
    }
    this._rest(model.planAt(this.cursor));
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
  _rest(plan) {
    if (plan === this.built.plan) return;
    this.built.plan = plan;
    [...this.names.children].reverse().forEach((item, i) => {
      const rests = Boolean(plan) && !plan.levels.includes(i);
      item.classList.toggle("hx-resting", rests);
      const { name } = this.model.levels[i];
      item.title = rests ? LANES.rests(name) : name;
    });
  }

  /** What depends on the levels and the size alone. */
  _skeleton() {
    const { model, scale } = this;
    const size = [model.levels.map((x) => x.tag + x.name).join(), scale.width, scale.lane].join();
    if (this.built?.size === size) return;
    const { lane, count, width } = scale;
    const high = lane * count;
    for (const sheet of [this.root, this.over]) {
      sheet.replaceChildren();
      set(sheet, { width, height: high + AXIS, viewBox: `0 0 ${width} ${high + AXIS}` });
    }
    this.names.replaceChildren(...[...model.levels].reverse().map((level) => laneName(level, lane)));
    this.built = { size, paths: new Map() };
    const { built, root, over } = this;
    for (let i = 0; i < count; i++)
      svg("rect", { class: "hx-lane-bed", x: 0, y: i * lane + 2, width, height: lane - 4, rx: 3 }, root);
    built.rounds = svg("path", { class: "hx-lane-rounds" }, root);
    for (const level of model.levels) {
      for (const kind of ["prefill", "draft", "verify"]) {
        const path = svg("path", { class: `hx-block hx-block-${kind}` }, root);
        path.style.setProperty("--hue", level.hue);
        built.paths.set(kind + level.index, path);
      }
    }
    built.rejects = svg("path", { class: "hx-block-reject" }, root);
    built.words = svg("g", { class: "hx-lane-words" }, root);
    built.axis = svg("g", { class: "hx-lane-axis" }, root);
    built.hot = svg("rect", { class: "hx-lane-hot", rx: 2 }, over);
    built.veil = svg("rect", { class: "hx-lane-veil", y: 0 }, over);
    built.cursor = svg("g", { class: "hx-lane-cursor" }, over);
    svg("path", { d: `M0 0V${high + 4}`, class: "hx-lane-line" }, built.cursor);
    svg("path", { d: `M-5 ${high + 11}L0 ${high + 2}L5 ${high + 11}z`, class: "hx-lane-grip" }, built.cursor);
  }

  _blocks() {
    const { model, built, scale } = this;
    const { a, b, x, y, lane, count, width } = scale;
    /** @type {Map<string, {top: number, spans: [number, number][]}>} */
    const data = new Map([...built.paths.keys()].map((key) => [key, { top: 0, spans: [] }]));
    const rejects = [];
    const words = [];
    for (const s of model.segments) {
      if (s.t1 < a || s.t0 > b) continue;
      const top = y(s.level) + 2;
      const [left, right] = [Math.max(0, x(s.t0)), Math.min(width, x(s.t1))];
      const row = data.get(s.kind + s.level);
      if (row) join(Object.assign(row, { top }).spans, left, Math.max(left + 0.8, right - 0.7));
      if (s.rejected && right - left > 7) rejects.push(box(right - 2.7, right - 0.7, top, lane - 4));
      if (right - left > LABEL_WIDTH && s.kind !== "prefill")
        words.push([(left + right) / 2, top + lane / 2, counts(s)]);
      else if (right - left > 2 * LABEL_WIDTH)
        words.push([(left + right) / 2, top + lane / 2, "prefill", "hx-word-faint"]);
    }
    for (const [key, { top, spans }] of data)
      set(built.paths.get(key), { d: spans.map(([left, right]) => box(left, right, top, lane - 4, 0.8)).join("") });
    const edges = model.rounds.filter((r) => r.t1 > a && r.t1 < b);
    const dense = edges.length * 7 > width;
    set(built.rounds, { d: dense ? "" : edges.map((r) => `M${x(r.t1).toFixed(1)} 0V${lane * count}`).join("") });
    set(built.rejects, { d: rejects.join("") });
    texts(built.words, words);
    texts(
      built.axis,
      ticks(a, b, width / 110).map(({ t, label }) => [x(t), lane * count + 13, label]),
      width,
    );
    const due = performance.now() - this.told > SUMMARY_MS;
    if (!this.live || model.footer || due) this._summary();
  }

  // --- pointer ---

  _time(event) {
    const left = this.area.getBoundingClientRect().left;
    const { a, b, width } = this.scale;
    return a + ((event.clientX - left) / width) * (b - a);
  }

  _press(event) {
    if (!this.scale.width || event.button !== 0) return;
    this.dragging = true;
    this.area.setPointerCapture(event.pointerId);
    this._point(null);
    this.ctx.onSeek?.(this._time(event));
    event.preventDefault();
  }

  _move(event) {
    if (!this.scale.width) return;
    if (this.dragging) this.ctx.onSeek?.(this._time(event));
    else this._point(this._under(event), event);
  }

  _under(event) {
    const { lane, count, a, b, width } = this.scale;
    const level = count - 1 - Math.floor((event.clientY - this.root.getBoundingClientRect().top) / lane);
    const t = this._time(event);
    const slack = ((b - a) / width) * 2;
    const mine = this.model.segments.filter((s) => s.level === level && s.t0 <= t + slack && s.t1 >= t - slack);
    const off = (s) => Math.max(s.t0 - t, t - s.t1, 0);
    return mine.sort((p, q) => off(p) - off(q))[0] ?? null;
  }

  /** @param {import("./trace.js").Segment|null} segment @param {PointerEvent|null} event */
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

  _frame(s) {
    const { x, y, lane, width } = this.scale;
    const [left, right] = [Math.max(0, x(s.t0)), Math.min(width, x(s.t1))];
    return { x: left, y: y(s.level) + 1.5, width: Math.max(2, right - left), height: lane - 3 };
  }

  /** The same for those who hear the page. */
  _summary() {
    const { model } = this;
    this.told = performance.now();
    const total = model.levels.map(() => ({ calls: 0, ns: 0, rows: 0 }));
    for (const s of model.segments) {
      if (s.kind === "prefill") continue;
      total[s.level].calls += 1;
      total[s.level].ns += s.t1 - s.t0;
      total[s.level].rows += s.rows;
    }
    this.root.setAttribute("aria-label", LANES.timeline(model.rounds.length, duration(model.end)));
    const caption = element("caption", "", LANES.caption);
    const shared = model.segments.some((s) => s.ran?.length);
    const layers = (i) => (shared ? [passesText(model.segments.filter((s) => s.level === i))] : []);
    const head = row("th", [...LANES.head, ...(shared ? [LANES.layers] : [])]);
    this.table.replaceChildren(
      caption,
      head,
      ...model.levels.map((x, i) =>
        row("td", [x.name, total[i].calls, total[i].rows, duration(total[i].ns), ...layers(i)]),
      ),
    );
  }
}

/** Adds a block to those of its row, from left to right. @param {[number, number][]} spans px @param {number} left @param {number} right */
function join(spans, left, right) {
  const last = spans[spans.length - 1];
  if (last && right - left < NARROW && left - last[1] < CLOSE) last[1] = Math.max(last[1], right);
  else spans.push([left, right]);
}

/** Where a time (ns, from a to b) and a level stand, px. */
function scaleOf(a, b, width, lane, count) {
  return { a, b, width, lane, count, x: (t) => ((t - a) / (b - a)) * width, y: (level) => (count - 1 - level) * lane };
}

function row(tag, values) {
  const line = element("tr");
  line.append(...values.map((x) => element(tag, "", String(x))));
  return line;
}

function laneName(level, height) {
  const item = element("li", "hx-lane-name");
  item.style.height = `${height}px`;
  item.style.setProperty("--hue", level.hue);
  const tag = element("span", "hx-badge", level.tag);
  tag.dataset.line = level.underline;
  item.title = level.name;
  item.append(tag, element("span", "hx-lane-title", level.short));
  return item;
}

const counts = (s) =>
  s.kind === "draft" ? String(s.tokensOut) : s.tokensIn === 0 ? "+1" : `${s.tokensIn}\u2192${s.tokensOut}`;

function tipLines(s, level) {
  const what = LANES.what[s.kind];
  const lines = [
    element("strong", "", `${level.tag} ${level.name}`),
    element("span", "", `${what}, ${duration(s.t1 - s.t0)}`),
  ];
  if (s.round !== null) lines.push(element("span", "", LANES.call(s.round + 1, s.rows, s.probes)));
  else lines.push(element("span", "", LANES.prefill(s.rows)));
  if (s.kind === "draft") lines.push(element("span", "", LANES.drafts(s.tokensOut, s.sequences)));
  if (s.kind === "verify") lines.push(element("span", "", LANES.verifies(s.tokensIn, s.tokensOut, s.rejects)));
  if (typeof s.theta === "number") lines.push(element("span", "hx-lane-theta", LANES.theta(s.theta.toFixed(2))));
  const ran = ranText(s);
  if (ran) lines.push(element("span", "hx-lane-ran", ran));
  return lines;
}

/** Text nodes [x, y, text, class], reused; the first and last stay inside `width`. */
function texts(group, list, width = null) {
  while (group.childNodes.length > list.length) group.lastChild.remove();
  list.forEach(([x, y, text, name = ""], i) => {
    const node = group.childNodes[i] ?? svg("text", {}, group);
    const anchor = width !== null && x < 12 ? "start" : width !== null && x > width - 24 ? "end" : "middle";
    set(node, { x, y, "text-anchor": anchor, class: name });
    if (node.textContent !== text) node.textContent = text;
  });
}
