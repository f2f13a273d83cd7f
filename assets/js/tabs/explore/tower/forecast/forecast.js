/** The tower's line of figures: what the theory predicts of the stack, and beside it what was measured of it. */

import { h, say } from "../../../../shared/kit/dom.js";
import { openTab } from "../../../../shared/kit/tabs.js";
import { inBrief } from "../../../../shared/levels/default-said.js";
import { greedy } from "../../../../shared/levels/greedy.js";
import { clockOf } from "../../../../shared/levels/overlap.js";
import { ofRun, ofTheory, stated } from "../../../../shared/levels/stated.js";
import { dependsOnLength } from "../../../../shared/levels/text-length.js";
import { plainSpeed } from "../../../../shared/run/figures.js";
import { whyApart } from "./apart.js";
import { heard } from "../../../../../text/heard.js";
import { DEFAULT_STACK } from "../../../../../text/en/default-stack.js";
import { words } from "../../../../../text/en/forecast.js";
import { ratio, rounded } from "../../../../../text/numbers.js";

/** @import {DefaultStack} from "../../../../shared/levels/default-said.js"
 *  @import {TraceModel} from "../../../../shared/run/trace.js"
 *  @import {Panels} from "../../../../shared/visit/panels.js" */

export class Forecast {
  /** @param {Panels} panels */
  constructor(panels) {
    const cell = () => h("td", words.unknown);
    const row = (/** @type {string} */ name, /** @type {HTMLElement[]} */ cells) =>
      h("tr", [h("th", { scope: "row", text: name }), cells]);
    const head = (/** @type {string} */ text, /** @type {string} */ tip) =>
      h("th", { scope: "col", tabindex: "0", text, "data-tip": tip });
    this._found = head(words.measured, words.measuredTip);
    this._ms = [cell(), cell(), cell()];
    this._times = [cell(), cell(), cell()];
    this._note = h("p.hx-forecast-note", { role: "status" });
    this._table = h("table", { "aria-label": words.title }, [
      h("tr", [h("td"), head(words.predicted, words.predictedTip), this._found, head(words.error, words.errorTip)]),
      row(words.ms, this._ms),
      row(words.times, this._times),
    ]);
    this._why = h("p.hx-forecast-why");
    this._lengths = h("p.hx-forecast-why");
    this._caught = h("p.hx-forecast-why");
    this._worth = h("ul.hx-forecast-worth", { "aria-label": words.worth });
    const way = h("a", { href: "?tab=planner", text: DEFAULT_STACK.way, onclick: toPlanner });
    this._usual = h("p.hx-forecast-usual", { hidden: true }, [h("span"), " ", way]);
    this._line = panels.button("prediction", words.asks, words.lineTip);
    const more = h("div.hx-forecast-more", [
      this._table,
      this._why,
      this._lengths,
      this._caught,
      this._worth,
      this._usual,
      this._note,
    ]);
    this.el = h("div.hx-forecast", [this._line, more]);
    /** @type {Price|null} */ this.price = null;
    /** @type {TraceModel|null} */ this._model = null;
    this._key = "";
  }

  /** @param {Price|null} price null: it is being asked for @param {number} temperature it was asked for
   *  @param {string} [stack] whose */
  show(price, temperature, stack = "") {
    this.stack = stack;
    this.price = price;
    this.temperature = temperature;
    this._draw();
  }

  /** The run that is shown, if it is of this stack. @param {TraceModel|null} model */
  measured(model) {
    const key = model ? `${model.header?.recorded} ${model.version}` : "";
    if (model === this._model && key === this._key) return;
    this._model = model;
    this._key = key;
    this._draw();
  }

  /** Why the block lengths of the default stack are what they are; null: another stack is composed.
   *  @param {DefaultStack|null|undefined} known */
  usual(known) {
    this._usual.hidden = !known || known.source === "pinned";
    if (!known) return;
    say(this._usual.firstElementChild, inBrief(known));
    /** @type {HTMLElement} */ (this._usual.lastElementChild).hidden = known.source === "measured" || !known.measures;
  }

  /** What the stack would gain without each of its levels. @param {{name: string, price: Price|null}[]} others */
  compare(others) {
    const known = others.flatMap(({ name, price }) =>
      price !== null && "ms" in price ? [words.without(name, times(price.speedup))] : [],
    );
    const now = [...this._worth.children].map((one) => one.textContent);
    if (now.join() === known.join()) return;
    this._worth.hidden = !known.length;
    this._worth.replaceChildren(...known.map((text) => h("li", text)));
  }

  _draw() {
    const { price } = this;
    const known = price !== null && "ms" in price ? price : null;
    const refused = price !== null && "reason" in price ? price : null;
    const ran = this._ran();
    this._table.hidden = Boolean(refused); // a sentence says it, and no table of dashes
    this.el.dataset.priced = String(!refused);
    this._say(known, refused, ran);
    if (refused) return this._refused(refused, ran);
    const rows = /** @type {const} */ ([
      [this._ms, known?.ms ?? null, ran?.ms ?? null, rounded],
      [this._times, known?.speedup ?? null, ran?.speedup ?? null, times],
    ]);
    for (const [cells, predicted, measured, text] of rows) {
      const what = text === times ? "speed_up" : "ms_per_token";
      const of = ofTheory(known?.about, this.stack ?? "", this.temperature);
      say(
        cells[0],
        predicted === null
          ? words.unknown
          : stated([what, known?.clock ?? "", known?.length ?? ""], of, text(predicted)),
      );
      say(cells[1], measured === null ? words.unknown : stated(what, ofRun(this._model?.header), text(measured)));
      const off = predicted === null || !measured || ran?.apart ? null : predicted / measured - 1;
      say(cells[2], off === null ? words.unknown : words.off(off));
    }
    const two = known?.clock === "reckoned";
    const alike = two && (ran?.clock ?? "reckoned") === "reckoned";
    say(this._found, alike ? words.reckoned : words.measured);
    this._found.dataset.tip = alike ? words.reckonedTip : words.measuredTip;
    const parts = known ? [two ? words.twoClocks : "", ran?.apart, origin(known.about)] : [words.asking];
    const note = parts.filter(Boolean).join(" ");
    say(this._note, note);
    this._note.title = note;
  }

  /** The line that is always there, and why the prediction missed. @param {Known|null} known @param {Refused|null} refused @param {ReturnType<Forecast["_ran"]>} ran */
  _say(known, refused, ran) {
    const measured = ran?.speedup ? times(ran.speedup) : "";
    const predicted = known ? words.at(times(known.speedup), known.length) : "";
    const { source, machine = "" } = known?.about ?? {};
    const where = source === "measured" ? words.thisMachine : machine;
    const line = () => {
      if (refused) return words.none(refused.brief ?? refused.reason);
      if (!known) return words.asks;
      if (!measured) return (known.clock ? words.saysReckoned : words.says)(predicted, where);
      if (known.clock) return words.saidReckoned(predicted, measured, ran?.clock || words.measured);
      const there = this._model?.header?.machine ?? "";
      return there === machine
        ? words.said(predicted, measured, where.split(",")[0])
        : words.saidElsewhere(predicted, where, measured, there);
    };
    say(this._line.firstElementChild, line());
    const miss = known && ran?.speedup && !ran.apart ? whyApart(known, { ...ran, speedup: ran.speedup }) : [];
    say(this._lengths, known ? overLengths(known) : "");
    say(this._caught, ran && this._model ? caught(this._model) : "");
    say(this._why, words.why(miss));
  }

  /** What has no price, and why; the tip has the cure. @param {{reason: string, brief?: string}} price @param {ReturnType<Forecast["_ran"]>} ran */
  _refused({ reason, brief }, ran) {
    const measured = ran ? words.ran(rounded(ran.ms), ran.speedup === null ? "" : times(ran.speedup), ran.how) : "";
    say(this._note, [words.none(brief ?? reason), measured].filter(Boolean).join(" "));
    this._note.title = words.none(reason);
  }

  /** What was measured, or reckoned: {ms, speedup, tokens, how, clock, apart}; apart: why it is not a test of the prediction. */
  _ran() {
    const { _model: model, price } = this;
    const last = model?.footer ? model.snapshots[model.snapshots.length - 1] : null;
    const speed = last?.tokens_per_s;
    if (!model?.header || !speed) return null;
    const plain = plainSpeed(model.baseline);
    const { sampling, machine, versions } = model.header;
    const reckoned = price !== null && "ms" in price && price.clock;
    const ran = clockOf(model.header);
    const clock = reckoned && ran !== reckoned ? words.otherClock(ran || "measured") : "";
    const elsewhere = price?.about && price.about.machine !== machine ? words.elsewhere : "";
    const engine = price?.about && price.about.compiled !== "onnxruntime" in versions ? words.engine : "";
    const otherwise = greedy(sampling) === !this.temperature ? "" : words.otherwise;
    return {
      ms: 1000 / speed,
      speedup: plain ? speed / plain : null,
      tokens: last.tokens_per_target_forward,
      how: ran === "reckoned" ? words.reckoned : words.measured,
      clock: ran,
      apart: elsewhere || engine || otherwise || clock,
    };
  }
}

/** In this page, unless a tab or window of its own was asked for. @param {MouseEvent} event */
function toPlanner(event) {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  openTab("planner");
}

const times = (/** @type {number} */ x) => `${ratio(x)}\u00d7`;

/** From where a stack with a view pays, and whether its length was measured. @param {OverLengths} price */
function overLengths({ length, extrapolated, by_length: rows, pays_from: from }) {
  if (!length || !rows?.length) return "";
  const [first, last] = [rows[0].length, rows[rows.length - 1].length];
  const pays = from ? words.paysFrom(from, from <= first) : words.paysNowhere;
  return [pays, extrapolated ? words.extrapolated(length, first, last) : ""].filter(Boolean).join(" ");
}

/** What the levels in the middle spared the target, in the run as a whole. @param {TraceModel} model */
function caught(model) {
  const of = (/** @type {number} */ level) => model.figures.of(model.end, level);
  const top = model.levels.length - 1;
  const whole = of(top)?.ms_per_call;
  const middle = model.levels.slice(1, top).map((level) => {
    const { ms_per_call: ms = null, judged = 0, accepted = 0 } = of(level.index) ?? {};
    return whole && ms && judged > accepted && words.caught(level.name, judged - accepted, rounded(ms), rounded(whole));
  });
  return middle.filter(Boolean).join(" ");
}

/** @param {About} about */
function origin(about) {
  if (!about) return "";
  const { source, machine = "", recorded = "" } = about;
  const day = recorded.slice(0, 10);
  return source === "measured" ? words.here(day) : words.shipped(machine, day);
}

// ---- What stacks would cost by the theory: asked for once each, a while after the last change, the latest question alone.

const SETTLE_MS = 250;
const KEPT = 200; // answers; then they are asked for again

/** @typedef {{preset: string, device: string, temperature: number, length?: number|null, by_length?: boolean}} Where which
 *    profile is asked; length: tokens of text, for stacks whose price depends on it; by_length: all are priced at that length */
/** @typedef {{source: string, machine?: string, recorded?: string, compiled: boolean}|null} About where the profile was
 *    measured, and whether passes were onnxruntime's */
/** @typedef {{length?: number, extrapolated?: boolean, by_length?: {length: number, ms: Record<string, number>, speedup: number}[],
 *    pays_from?: number|null}} OverLengths of a stack with a view: at how many tokens of text, whether that is not between measured
 *    lengths, what is at those, and the first from which on it is faster than plain decoding */
/** @typedef {{ms: number, speedup: number, tokens: number, clock?: string, about: About}&OverLengths} Known @typedef {{reason: string, brief?: string, about: About}} Refused */
/** @typedef {Known|Refused} Price
 *    clock: "reckoned" where levels work at the same time; brief: the reason without its cure */

export class Prices {
  /** @param {() => void} onNews */
  constructor(onNews) {
    this.onNews = onNews;
    /** @type {Map<string, Price>} */ this.known = new Map();
    /** @type {ReturnType<typeof setTimeout>|undefined} */ this._timer = undefined;
    /** @type {AbortController|null} */ this._asking = null;
    this._wanted = "";
  }

  /** @param {Where} where @param {string} stack */
  of(where, stack) {
    return this.known.get(key(where, stack)) ?? null;
  }

  /** Has the prices of these stacks fetched. @param {Where} where @param {string[]} stacks */
  ask(where, stacks) {
    const missing = [...new Set(stacks)].filter((stack) => !this.of(where, stack));
    const wanted = missing.map((stack) => key(where, stack)).join();
    if (wanted === this._wanted) return;
    this._wanted = wanted;
    clearTimeout(this._timer);
    if (missing.length) this._timer = setTimeout(() => this._fetch(where, missing), SETTLE_MS);
  }

  /** @param {Where} where @param {string[]} stacks */
  async _fetch(where, stacks) {
    this._asking?.abort();
    const asking = (this._asking = new AbortController());
    /** @type {any} */ let answer = null;
    try {
      const reply = await fetch(new URL("../../../../../../planner/price", import.meta.url), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...where, stacks }),
        signal: asking.signal,
      });
      answer = reply.ok || reply.status === 422 ? await reply.json() : null;
    } catch {
      if (asking.signal.aborted) return;
    }
    if (this.known.size > KEPT) this.known.clear();
    const failed = { reason: answer?.error ?? words.lost };
    stacks.forEach((stack, i) => {
      const price = { about: answer?.about ?? null, ...(answer?.prices?.[i] ?? failed) };
      for (const part of ["reason", "brief"]) if (price[part]) price[part] = heard(price[part]);
      this.known.set(key(where, stack), price);
    });
    this._wanted = "";
    this.onNews();
    // What failed may be asked for again at the next change.
    if (!answer?.prices) for (const stack of stacks) this.known.delete(key(where, stack));
  }
}

/** @param {Where} where @param {string} stack */
const key = ({ preset, device, temperature, length, by_length: all = false }, stack) =>
  JSON.stringify([preset, device, temperature, stack, all, all || dependsOnLength(stack) ? (length ?? null) : null]);
