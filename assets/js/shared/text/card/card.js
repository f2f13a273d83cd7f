/** The token card: where a token came from and what each verifier thought of it. It lies over the tower, or over the
 *  lanes where the text has the tower's place, never over the text; a sheet at the bottom on a phone. Hover shows it, a
 *  click pins it, Escape closes it. */

import { element, h, say } from "../../kit/dom.js";
import { upTo } from "../../kit/order.js";
import { roundNumber } from "../../kit/round-number.js";
import { isGreedy } from "../../levels/greedy.js";
import { originOf } from "../../levels/kinds.js";
import { stopText } from "../../levels/trunk.js";
import { origin } from "../../run/copies.js";
import { spared } from "../../run/spared.js";
import { candidates, fate } from "../../run/tree.js";
import { msPerToken } from "../token/token.js";
import { SAY } from "../../../../text/en/anatomy.js";
import { CARD, VERDICT } from "../../../../text/en/card.js";
import { PRICE } from "../../../../text/en/run.js";
import { figure } from "../../../../text/numbers.js";
import { badge } from "../../levels/badge.js";

const DELAY = 120; // ms before a hover counts
const LEAST = 150; // px of height that it always has
const NARROW = "(max-width: 900px)"; // one column: nothing stands beside the text

/** @typedef {import("../../run/trace.js").TraceModel} TraceModel @typedef {import("../../run/trace.js").Level} Level
 *  @typedef {import("../../run/records.js").TokenRecord} TokenRecord @typedef {import("../../run/records.js").Judgement} Judgement
 *  @typedef {import("../../run/events.js").Row} Row @typedef {[name: string, row: Row, hue: string]} Head
 *  @typedef {{onSelect?: (serial: number|null) => void}} Context called when the card opens on a token or closes */

/** @param {HTMLElement} host */
export function create(host, ctx = {}) {
  const el = host.appendChild(element("section", "hx-card"));
  el.setAttribute("aria-label", CARD.label);
  el.hidden = true;
  const card = new Card(el, ctx);
  return {
    el,
    /** @type {Card["select"]} */
    select: (serial, info) => card.select(serial, info ?? {}),
    hide: () => card.hide(),
    /** The serial that the card shows, null while it is closed: what the other views should mark. */
    get selected() {
      return el.hidden ? null : card.serials[0];
    },
    /** @type {Card["update"]} */
    update: (model, cursor) => card.update(model, cursor),
    destroy() {
      card.destroy();
      el.remove();
    },
  };
}

class Card {
  constructor(/** @type {HTMLElement} */ el, /** @type {Context} */ ctx) {
    this.el = el;
    this.ctx = ctx;
    /** @type {import("../../run/trace.js").TraceModel|null} */ this.model = null;
    this.cursor = 0;
    /** @type {number[]} */ this.serials = [];
    /** @type {HTMLElement|null} */ this.anchor = null;
    this.pinned = false;
    this.timer = 0;
    this.drawn = "";
    this.listening = new AbortController();
    const { signal } = this.listening;
    document.addEventListener("keydown", (e) => this._escape(e), { signal });
    document.addEventListener("pointerdown", (e) => this._outside(e.target), { signal });
    addEventListener("resize", () => this._put(), { signal });
    document.addEventListener("scroll", () => this._put(), { signal, capture: true, passive: true });
  }

  destroy() {
    clearTimeout(this.timer);
    this.listening.abort();
  }

  update(/** @type {TraceModel} */ model, /** @type {number} */ cursor) {
    if (model !== this.model) this.hide();
    this.model = model;
    this.cursor = cursor;
    if (!this.el.hidden) this._draw();
  }

  /** @param {number|null} serial @param {{anchor?: HTMLElement|null, via?: string, serials?: number[]|null}} info */
  select(serial, { anchor = null, via = "click", serials = null } = {}) {
    clearTimeout(this.timer);
    if (serial === null) {
      if (!this.pinned) this.timer = setTimeout(() => this.hide(), DELAY);
      return;
    }
    if (via === "hover" && this.pinned) return;
    const show = () => {
      this.pinned = via === "click";
      this.serials = serials ?? [serial];
      this.anchor = anchor;
      this.el.hidden = false;
      this._draw();
      this._put();
      if (this.pinned) this._reveal();
      this.ctx.onSelect?.(this.serials[0]);
    };
    if (via === "hover" && this.el.hidden) this.timer = setTimeout(show, DELAY);
    else show();
  }

  hide() {
    clearTimeout(this.timer);
    if (this.el.hidden) return;
    this.el.hidden = true;
    this.pinned = false;
    this.drawn = "";
    this.ctx.onSelect?.(null);
  }

  /** A sheet must not lie over the text, or where the text is too high for that, over the token. */
  _reveal() {
    if (!this.el.classList.contains("hx-sheet") || !this.anchor?.isConnected) return;
    const top = this.el.getBoundingClientRect().top;
    const text = this.anchor.closest(".hx-text-body")?.getBoundingClientRect();
    const token = this.anchor.getBoundingClientRect();
    const low = text && text.height <= top ? text.bottom : token.bottom + 28;
    if (low > top) scrollBy({ top: low - top });
  }

  /** Escape closes the card and, while there is one, means nothing else. @param {KeyboardEvent} event */
  _escape(event) {
    if (event.key !== "Escape" || this.el.hidden) return;
    event.preventDefault();
    this.hide();
  }

  _outside(/** @type {EventTarget|null} */ target) {
    if (this.el.hidden || !(target instanceof Node) || this.el.contains(target)) return;
    if (target instanceof Element && target.closest("[data-serial]")) return;
    this.hide();
  }

  _draw() {
    const { model } = this;
    const records = this.serials.map((serial) => model?.tokens.get(serial)).filter((record) => record !== undefined);
    if (!model || !records.length) return this.hide();
    const signature =
      records.map((r) => [r.serial, model.state(r, this.cursor), seen(r, this.cursor).length]).join() + this.pinned;
    if (signature === this.drawn) return;
    this.drawn = signature;
    this.el.classList.toggle("hx-pinned", this.pinned);
    const note = this.pinned || matchMedia(NARROW).matches ? "" : CARD.click;
    this.el.replaceChildren(
      h("button.hx-card-close", { "aria-label": CARD.close, text: "\u00d7", onclick: () => this.hide() }),
      ...records.map((r) => about(r, model, this.cursor, note === "")),
      element("p", "hx-card-note", CARD.bars(isGreedy(model) ? CARD.greedy : CARD.sampled) + note),
    );
  }

  /** Over what stands beside the text, inside the window. */
  _put() {
    const { el } = this;
    if (el.hidden) return;
    const narrow = matchMedia(NARROW).matches;
    el.classList.toggle("hx-sheet", narrow);
    const box = narrow || !el.parentElement ? null : dock(el.parentElement, this.anchor);
    el.classList.toggle("hx-card-wide", box?.wide ?? false);
    for (const side of /** @type {const} */ (["left", "top", "width", "height", "least"]))
      if (box) el.style.setProperty(`--${side}`, `${Math.round(box[side])}px`);
  }
}

/** The place of the card: that of the tower, else of the lanes; down to the window's end where there is room. Where the
 *  text fills the window, the end of the window that the token is not at. */
function dock(/** @type {HTMLElement} */ stage, /** @type {HTMLElement|null} */ token) {
  const placeOf = (/** @type {string} */ part) =>
    /** @type {Element} */ (stage.querySelector(part)).getBoundingClientRect();
  const tower = placeOf(".hx-tower");
  const wide = tower.width === 0;
  const { left, top, width, height } = wide ? placeOf(".hx-clock") : tower;
  const from = Math.min(Math.max(8, top), innerHeight - LEAST);
  const below = wide && token?.isConnected && token.getBoundingClientRect().bottom > from;
  return {
    wide,
    left,
    top: below ? 8 : from,
    width,
    height: below ? LEAST : innerHeight - from - 8,
    least: wide ? 0 : Math.min(height, innerHeight - from - 8),
  };
}

// ---- What the card says of one token: who supplied it, from where, beside which others, and each verifier's word.

const NBSP = "\u00a0";

/** The judgements of a token up to a moment. @param {TokenRecord} record @param {number} cursor */
export const seen = (record, cursor) => record.judgements.filter((j) => j.t <= cursor);

/** `full`: with the rows of every verifier, not only of the last one.
 *  @param {TokenRecord} record @param {TraceModel} model @param {number} cursor @param {boolean} full */
export function about(record, model, cursor, full) {
  const level = model.levels[record.level];
  const offered = candidates(record);
  const beside = offered.length > (record.how === "draft" ? 1 : 0);
  const drawn = record.how === "draft" ? null : record.drawn?.pRow;
  const verdicts = seen(record, cursor);
  return h("div.hx-card-token", [
    h("header.hx-card-head", [
      badge(level),
      h("strong.hx-card-text", model.pieceText(record.id)),
      h("span.hx-card-state", CARD.states[model.state(record, cursor)]),
    ]),
    facts(record, model, level),
    beside && rivals(offered, record, model, cursor),
    drawn && rows([["p", drawn, level.hue]], record, model),
    verdicts.map((judgement, i) => verdict(judgement, record, model, full || i === verdicts.length - 1)),
    verdicts.length ? null : h("p.hx-card-none", unjudged(record, model)),
  ]);
}

function unjudged(/** @type {TokenRecord} */ record, /** @type {TraceModel} */ model) {
  if (record.level === model.levels.length - 1) return CARD.itself;
  if (record.insteadOf !== null && record.insteadOf !== undefined)
    return CARD.unasked(model.pieceText(model.tokens.get(record.insteadOf)?.id ?? -1));
  return record.lostWith === null ? CARD.unjudged : CARD.lost;
}

function facts(/** @type {TokenRecord} */ record, /** @type {TraceModel} */ model, /** @type {Level} */ level) {
  const list = h("dl.hx-card-facts");
  const ms = msPerToken(model, record);
  const number = roundNumber(record.round);
  const round = model.rounds[upTo(model.rounds, record.round, (x) => x.round) - 1];
  /** @param {string} name @param {string} value */
  const add = (name, value) => list.append(h("dt", name), h("dd", value));
  const from = originOf(level.kind, record.source)?.title ?? (level.name.includes(record.source) ? "" : record.source);
  const source = from ? ` (${from})` : "";
  add(CARD.supplied, `${level.name}, ${CARD.how[record.how] ?? record.how}${source}`);
  if ((record.draws ?? 1) > 1) add(CARD.drawn, CARD.times(record.draws ?? 1));
  copiedFrom(list, record, model);
  const stop = stopText(level, model.levels, record.depth);
  if (stop) add(record.how === "draft" ? CARD.draftedAt : CARD.drawnAt, stop);
  add(CARD.id, String(record.id));
  add(CARD.position, String(record.at));
  add(
    CARD.round,
    round ? CARD.roundIs(number, figure((round.t1 - round.t0) / 1e6), ms === null ? null : figure(ms)) : String(number),
  );
  const look = { "data-anatomy": String(record.serial), text: SAY.openRound(number) };
  list.append(h("dt"), h("dd", h("button.hx-card-anatomy", look)));
  if (record.drawn) {
    if (isGreedy(model)) add(CARD.chosen, choiceOf(record.drawn.pRow, record, model, VERDICT.whose(level.tag)));
    else add(CARD.drawnWith, figure(record.drawn.p));
  }
  return list;
}

/** A copied token: what it repeats, in its place, and why the drafter looked there.
 *  @param {HTMLElement} list @param {TokenRecord} record @param {TraceModel} model */
function copiedFrom(list, record, model) {
  const found = origin(model, record);
  if (!found || !record.copied) return;
  const where = h("span.hx-copied-where", `${found.where}: `);
  list.append(
    h("dt", CARD.copied),
    h("dd.hx-copied", [where, `…${found.before}`, h("mark", found.token), `${found.after}…`]),
    h("dt"),
    h("dd.hx-copied-why", CARD.copiedWhy(record.copied.alike, record.copied.share)),
  );
}

/** The candidates for a token's place, in judging order, and what became of each.
 *  @param {TokenRecord[]} offered @param {TokenRecord} record @param {TraceModel} model @param {number} cursor */
function rivals(offered, record, model, cursor) {
  const judged = record.fork?.tree.judged;
  const by = model.levels[(judged ?? { level: record.level + 1 }).level];
  const own = record.how === "draft" ? null : rival(record, model, cursor, true);
  if (own) say(own.querySelector(".hx-rival-fate"), CARD.how[record.how]);
  return h("div.hx-rivals", [
    h("p.hx-rivals-title", CARD.offered(by.tag)),
    h("ol.hx-rivals-list", [offered.map((one) => rival(one, model, cursor, one === record)), own]),
  ]);
}

/** @param {TokenRecord} one @param {TraceModel} model @param {number} cursor @param {boolean} mine */
function rival(one, model, cursor, mine) {
  const level = model.levels[one.level];
  const from = originOf(level.kind, one.source);
  const drafted = one.how === "draft";
  const what = drafted ? fate(one, cursor) : "kept";
  const letter = badge(from ? { tag: one.source, underline: level.underline, hue: from.hue } : level);
  letter.title = from?.title ?? level.name;
  const verdict = what === "kept" || what === "rejected" ? one.judgements[0] : null;
  return h("li.hx-rival", { "data-fate": what, "aria-current": mine ? "true" : null }, [
    letter,
    h("span.hx-rival-text", model.pieceText(one.id) || "\u2205"),
    h("span.hx-rival-p", verdict && drafted ? `α${NBSP}${figure(verdict.alpha)}` : ""),
    h("span.hx-rival-fate", CARD.fates[what]),
  ]);
}

// ---- What one verifier thought of a token: its word, the coin against the acceptance probability, the rows. When greedy no
// coin is thrown: a token is the top choice, or it is not.

/** Of whose choices a token is which: "T's top choice (0.83)", "T's 4th choice (0.02); its top choice is the (0.61)".
 *  @param {Row|null} row @param {TokenRecord} record @param {TraceModel} model @param {string} whose */
export function choiceOf(row, record, model, whose) {
  if (!row?.ids.length) return VERDICT.notKept(whose);
  const rank = row.ids.indexOf(record.id);
  const said = (/** @type {number} */ i) => figure(row.probs[i]);
  if (rank === 0) return VERDICT.top(whose, said(0));
  const own = rank < 0 ? VERDICT.among(whose, row.ids.length) : VERDICT.nth(whose, rank + 1, said(rank));
  return VERDICT.instead(own, model.pieceText(row.ids[0]), said(0));
}

/** @param {Judgement} j @param {TokenRecord} record @param {TraceModel} model @param {boolean} full */
export function verdict(j, record, model, full) {
  const level = model.levels[j.level];
  const stop = stopText(level, model.levels);
  const plain = j.outcome !== "unjudged" && isGreedy(model);
  const coins = j.outcome !== "unjudged" && !plain;
  const residual = j.outcome === "rejected" ? j.residual : null;
  const below = model.levels[j.below ?? Math.max(0, j.level - 1)];
  const heads = /** @type {[string, Row|null, string][]} */ ([
    ["p", j.pRow, level.hue],
    ["q", j.qRow, below.hue],
    [VERDICT.residual, residual, "var(--hue-reject)"],
  ]).flatMap(([name, row, hue]) => (row ? [/** @type {Head} */ ([name, row, hue])] : []));
  const lossy = spared(j);
  return h("div.hx-verdict", { class: `hx-${j.outcome}` }, [
    h("p.hx-verdict-line", [
      badge(level),
      h("span", `${level.name}: `),
      h("b", VERDICT.outcomes[lossy ? "spared" : j.outcome]),
      stop && h("span.hx-verdict-stop", stop),
    ]),
    lossy && h("p.hx-verdict-plain.hx-verdict-spared", PRICE.spared),
    plain && h("p.hx-verdict-plain", choiceOf(j.pRow, record, model, VERDICT.whose(level.tag))),
    coins && h("p.hx-verdict-sum", `p\u00a0${figure(j.p)}   q\u00a0${figure(j.q)}   α\u00a0${figure(j.alpha)}`),
    coins && coin(j, level.rule),
    coins && level.rule === "block" && h("p.hx-verdict-sum", VERDICT.block),
    heads.length > 0 && full && rows(heads, record, model),
  ]);
}

/** The coin against the acceptance probability, as a line from 0 to 1. */
function coin(/** @type {Judgement} */ j, /** @type {string|null} */ rule) {
  const lossy = spared(j);
  const sign = j.outcome === "accepted" && !lossy ? "<" : "\u2265";
  const outcome = VERDICT.outcomes[lossy ? "spared" : j.outcome];
  const sure = j.alpha <= 0 || j.alpha >= 1;
  const certain = sure ? VERDICT.certain(outcome) : rule === "match" ? VERDICT.matched[j.outcome] : VERDICT.prefix;
  const words = j.coin === null ? certain : VERDICT.coin(figure(j.coin), sign, figure(j.alpha), outcome);
  const style = { "--alpha": clamp(j.alpha), "--coin": j.coin === null ? null : clamp(j.coin) };
  return h("p.hx-coin", [
    h("span.hx-coin-bar", { "data-coin": j.coin === null ? null : "1", style }),
    h("span", words),
  ]);
}

export function rows(/** @type {Head[]} */ heads, /** @type {TokenRecord} */ record, /** @type {TraceModel} */ model) {
  return h("div.hx-rows", [
    heads.map(([name, row, hue]) => {
      const certain = row.ids.length === 1 && row.probs[0] === 1;
      return h("ol.hx-row", { "aria-label": VERDICT.likeliest(name), style: { "--hue": hue } }, [
        h("li.hx-row-name", certain ? VERDICT.oneHot(name) : name),
        row.ids
          .slice(0, 8)
          .map((id, i) => bar(model.pieceText(id), row.probs[i], id === record.id ? "hx-bar-mine" : null)),
        row.tail > 0.0005 && bar(VERDICT.others, row.tail, "hx-bar-tail"),
      ]);
    }),
  ]);
}

/** @param {string} label @param {number} value @param {string|null} kind */
const bar = (label, value, kind) =>
  h("li.hx-bar", { class: kind, style: { "--p": clamp(value) } }, [
    h("span.hx-bar-label", label || "\u2205"),
    h("span.hx-bar-value", figure(value)),
  ]);

const clamp = (/** @type {number|null|undefined} */ x) => String(Math.min(1, Math.max(0, x ?? 0)));
