/** The live charts beside the tower: time a round by level, speed beside plain decoding, tokens a pass, and what each level
 *  accepted, round by round up to the cursor. The pointer or the arrow keys read one round in all of them at once. */

import { clockOf } from "../../../shared/levels/overlap.js";
import { ofRun, stated } from "../../../shared/levels/stated.js";
import { element, h, say } from "../../../shared/kit/dom.js";
import { pictureButton } from "../../../shared/kit/picture/button.js";
import { roundNumber } from "../../../shared/kit/round-number.js";
import { box, roundUp } from "../../../shared/kit/svg.js";
import { duration, ratio, rounded } from "../../../../text/numbers.js";
import { CHARTS } from "../../../../text/en/charts.js";
import { CLOCKS } from "../../../../text/en/lanes.js";
import { HEIGHT, WIDTH, chart, entriesOf, heightOf, plainOf, slotOf, through } from "./small-chart.js";
import { badge } from "../../../shared/levels/badge.js";

/** @import {TraceModel} from "../../../shared/run/trace.js" @import {Entry} from "./small-chart.js" */

const MOST = 96; // rounds that are drawn
const FINE = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];

/** @param {HTMLElement|null} unfold the button that opens them on a narrow window
 *  @returns {{el: HTMLElement, update: (model: TraceModel, cursor: number) => void}} */
export function liveCharts(unfold = null) {
  const charts = new LiveCharts(unfold);
  return { el: charts.el, update: (model, cursor) => charts.update(model, cursor) };
}

class LiveCharts {
  /** @param {HTMLElement|null} unfold */
  constructor(unfold) {
    /** @type {Entry[]} */ this.entries = [];
    /** @type {(number|null)[]} */ this.soFar = []; // by level: the share accepted up to the cursor
    /** @type {number|null} */ this.at = null; // the entry that is read; null: the last
    /** @type {TraceModel} */ this.model = /** @type {any} */ (null); // until a run is shown
    this.drawn = "";
    this.body = h("div.hx-charts");
    this.where = h("span.hx-charts-round");
    this.panels = {
      latency: chart(this.body, CHARTS.latency, CHARTS.formulas.latency),
      speed: chart(this.body, CHARTS.speed, CHARTS.formulas.speed),
      yield: chart(this.body, CHARTS.yield, CHARTS.formulas.yield),
      acceptance: chart(this.body, CHARTS.acceptance, CHARTS.formulas.acceptance),
    };
    this.reader = h("div.hx-charts-reader", {
      ...{ role: "slider", tabindex: "0", "aria-label": CHARTS.keys },
      ...{ "aria-valuemin": "1", "aria-valuemax": "1", "aria-valuenow": "1", "aria-valuetext": CHARTS.nothing },
      onkeydown: (/** @type {KeyboardEvent} */ event) => this._key(event),
      onblur: () => this._read(null),
    });
    this.body.append(this.reader);
    this.body.addEventListener("pointermove", (event) => this._point(event));
    this.body.addEventListener("pointerleave", () => this._read(null));
    const title = h("h3.hx-charts-title", CHARTS.title);
    const picture = pictureButton(
      () => this.body,
      () => CHARTS.picture,
    );
    this.el = h("section.hx-live", { "aria-label": CHARTS.title }, [
      h("header.hx-live-head", [title, unfold, this.where, picture]),
      this.body,
    ]);
  }

  /** @param {TraceModel} model @param {number} cursor ns */
  update(model, cursor) {
    const over = model.roundAt(cursor);
    const gauges = model.levels.map((level) => model.figures.of(cursor, level.index));
    const signature = [model.version, over, (model.rounds[over]?.t1 ?? 0) <= cursor, ...gauges.map((x) => x?.t)].join();
    if (signature === this.drawn && this.model === model) return;
    this.drawn = signature;
    if (this.model !== model) {
      this.model = model;
      this.at = null;
      for (const panel of Object.values(this.panels)) panel.clear();
    }
    this.entries = entriesOf(model, cursor, MOST);
    this.soFar = gauges.map((x) => x?.acceptance ?? null); // as the tower has it: within a round too
    if (this.at !== null && this.at >= this.entries.length) this.at = null;
    this._draw();
    this._say();
  }

  _draw() {
    const { model, entries, panels } = this;
    const clock = CLOCKS[clockOf(model.header)]?.short;
    panels.latency.name(clock ? CHARTS.onClock(CHARTS.latency, clock) : CHARTS.latency);
    panels.speed.name(clock ? CHARTS.onClock(CHARTS.speed, clock) : CHARTS.speed);
    const slot = slotOf(entries.length);
    drawLatency(panels.latency, model, entries, slot);
    drawSpeed(panels.speed, entries, slot, plainOf(model));
    drawTokens(panels.yield, entries, slot);
    drawAccepted(panels.acceptance, model, entries, slot);
    const at = this.at;
    const x = at === null ? "" : ((at + 0.5) * slot).toFixed(1);
    for (const panel of Object.values(panels)) panel.draw("reader", "reader", x && `M${x} 0V${HEIGHT}`);
  }

  /** The values of the round that is read, or of the run so far. */
  _say() {
    const { model, entries, panels, at } = this;
    const one = entries[at ?? entries.length - 1];
    const last = model.snapshots.at(-1);
    say(this.where, one && at !== null ? CHARTS.ofRound(roundNumber(one.round)) : "");
    const dash = "\u2013";
    const [ms, speed] = [one ? duration(one.ns) : dash, one?.speed == null ? dash : rounded(one.speed)];
    panels.latency.value([element("b", "", ms)], ms);
    panels.speed.value([element("b", "", speed), ` ${CHARTS.rate}`], speed);
    const mean = one?.mean == null ? dash : ratio(one.mean);
    if (one?.mean && model.footer && last?.t === model.snapshotAt(one.t1)?.t)
      stated("per_forward", ofRun(model.header), mean);
    const read = at !== null && one;
    panels.yield.value(
      read ? [element("b", "", String(one.tokens))] : [element("b", "", mean), ` ${CHARTS.mean}`],
      read ? `r${one.tokens}` : mean,
    );
    this._sayAccepted(one);
    this.reader.setAttribute("aria-valuemax", String(Math.max(1, entries.length)));
    this.reader.setAttribute("aria-valuenow", String(Math.max(1, (at ?? entries.length - 1) + 1)));
    this.reader.setAttribute("aria-valuetext", one ? heard(model, one, entries) : CHARTS.nothing);
  }

  /** @param {Entry|undefined} one */
  _sayAccepted(one) {
    const { model, panels } = this;
    const verifiers = model.levels.filter((level) => level.index > 0).reverse();
    /** @type {HTMLElement[]} */ const parts = [];
    const texts = verifiers.map((level) => {
      const mine = one?.accepted.find((x) => x.level === level.index);
      const share = this.at === null ? this.soFar[level.index] : mine?.judged ? mine.accepted / mine.judged : null;
      const text = share === null ? "\u2013" : ratio(share);
      const letter = badge(level);
      letter.title = level.name;
      parts.push(h("span.hx-chart-share", [letter, h("b", text)]));
      return level.tag + text;
    });
    panels.acceptance.value(parts, texts.join());
  }

  // --- reading one round

  /** @param {PointerEvent} event */
  _point(event) {
    const plot = /** @type {Element} */ (event.target).closest?.(".hx-chart-plot");
    if (!plot || !this.entries.length) return this._read(null);
    const { left, width } = plot.getBoundingClientRect();
    const at = Math.floor((((event.clientX - left) / width) * WIDTH) / slotOf(this.entries.length));
    this._read(at < this.entries.length ? Math.max(0, at) : null);
  }

  /** @param {KeyboardEvent} event */
  _key(event) {
    const last = this.entries.length - 1;
    const at = this.at ?? last;
    const to = { ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1, Home: 0, End: last }[
      event.key
    ];
    if (to === undefined || last < 0) return;
    event.preventDefault();
    event.stopPropagation(); // the arrows also lead through the run
    this._read(Math.min(last, Math.max(0, to)));
  }

  /** @param {number|null} at */
  _read(at) {
    if (at === this.at || !this.model) return;
    this.at = at;
    this._draw();
    this._say();
  }
}

/** All of a round in words. @param {TraceModel} model @param {Entry} one @param {Entry[]} entries */
function heard(model, one, entries) {
  const { heard: say } = CHARTS;
  const plain = plainOf(model);
  const parts = model.levels
    .flatMap(({ name }, i) => (one.byLevel[i] > 0 ? `${name} ${duration(one.byLevel[i])}` : []))
    .reverse();
  return [
    say.round(roundNumber(one.round), roundNumber(entries[entries.length - 1].round)),
    say.latency(duration(one.ns), parts.join(", ")),
    one.speed === null ? "" : say.speed(rounded(one.speed), plain ? rounded(plain) : ""),
    say.tokens(one.tokens),
    ...one.accepted
      .filter((x) => x.judged)
      .reverse()
      .map((x) => say.accepted(model.levels[x.level].name, x.accepted, x.judged)),
  ]
    .filter(Boolean)
    .join("; ");
}

/** @typedef {ReturnType<typeof chart>} Panel */

/** @param {Panel} panel @param {TraceModel} model @param {Entry[]} entries @param {number} slot */
function drawLatency(panel, model, entries, slot) {
  const top = roundUp(Math.max(1, ...entries.map((x) => x.ns)), FINE);
  /** @type {string[]} */ const data = model.levels.map(() => "");
  entries.forEach((x, i) => {
    let y = HEIGHT;
    x.byLevel.forEach((ns, level) => {
      const high = (ns / top) * (HEIGHT - 2);
      if (high < 0.05) return;
      y -= high;
      data[level] += box(i * slot, (i + 0.82) * slot, y.toFixed(2), high.toFixed(2));
    });
  });
  for (const [i, level] of model.levels.entries()) panel.draw(`bar${i}`, "bar", data[i], level.hue);
  panel.scale(entries.length ? duration(top) : "");
}

/** @param {Panel} panel @param {Entry[]} entries @param {number} slot @param {number|null} plain */
function drawSpeed(panel, entries, slot, plain) {
  const values = entries.map((x) => x.speed ?? 0);
  const settled = values.slice(Math.min(2, Math.max(0, values.length - 1))); // the first rounds say little
  const top = roundUp(Math.max(1e-9, ...settled, plain ?? 0) * 1.04, FINE);
  /** @type {[number, number][]} */ const points = values.map((v, i) => [(i + 0.5) * slot, heightOf(v / top)]);
  const end = points[points.length - 1];
  panel.draw("area", "area", points.length > 1 ? `${through(points)}V${HEIGHT}H${points[0][0].toFixed(1)}z` : "");
  panel.draw("line", "line", end ? through(points) : "");
  const y = heightOf((plain ?? 0) / top);
  panel.draw("plain", "plain", plain ? `M0 ${y.toFixed(1)}H${WIDTH}` : "");
  panel.beside(plain ? CHARTS.plain(rounded(plain)) : "", y);
  panel.scale(entries.length ? rounded(top) : "");
}

/** @param {Panel} panel @param {Entry[]} entries @param {number} slot */
function drawTokens(panel, entries, slot) {
  const top = Math.max(4, ...entries.map((x) => x.tokens));
  const bars = entries.map((x, i) => {
    const high = (x.tokens / top) * (HEIGHT - 2);
    return box(i * slot, (i + 0.82) * slot, (HEIGHT - high).toFixed(2), high.toFixed(2));
  });
  panel.draw("bars", "bar", bars.join(""), "var(--hue-target)");
  const mean = entries.map((x, i) =>
    x.mean === null ? null : /** @type {[number, number]} */ ([(i + 0.5) * slot, heightOf(x.mean / top)]),
  );
  panel.draw("mean", "plain", through(mean));
  panel.scale(entries.length ? String(top) : "");
}

/** @param {Panel} panel @param {TraceModel} model @param {Entry[]} entries @param {number} slot */
function drawAccepted(panel, model, entries, slot) {
  for (const level of model.levels) {
    if (level.index === 0) continue;
    const mine = entries.map((x) => x.accepted.find((a) => a.level === level.index));
    const dots = mine.map((x, i) =>
      x?.judged ? `M${((i + 0.5) * slot).toFixed(1)} ${heightOf(x.accepted / x.judged).toFixed(1)}h0.01` : "",
    );
    const line = mine.map((x, i) =>
      x && x.mean !== null ? /** @type {[number, number]} */ ([(i + 0.5) * slot, heightOf(x.mean)]) : null,
    );
    panel.draw(`dots${level.index}`, "dots", dots.join(""), level.hue);
    panel.draw(`mean${level.index}`, "mean", through(line), level.hue);
  }
  panel.scale(model.levels.length === 1 ? CHARTS.oneLevel : entries.length ? "1" : "");
}
