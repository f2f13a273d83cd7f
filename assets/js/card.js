/** The token card: where a token came from and what each verifier thought of it. A popover beside the token, a
 *  sheet at the bottom on a phone. Hover shows it, a click pins it, Escape closes it. */

import { candidates, fate } from "./comb.js";
import { origin } from "./copies.js";
import { originOf } from "./kinds.js";
import { msPerToken } from "./legend.js";
import { element } from "./token.js";
import { upTo } from "./trace.js";
import { stopText } from "./trunk.js";

const DELAY = 120; // ms before a hover counts
const PHONE = "(max-width: 640px)";
const NBSP = "\u00a0";

/** ctx.onSelect(serial|null): called when the card opens on a token or closes. */
export function create(host, ctx = {}) {
  const el = host.appendChild(element("section", "hx-card"));
  el.setAttribute("aria-label", "Token card");
  el.hidden = true;
  const card = new Card(el, ctx);
  return {
    el,
    select: (serial, info) => card.select(serial, info ?? {}),
    hide: () => card.hide(),
    /** The serial that the card shows, null while it is closed: what the other views should mark. */
    get selected() {
      return el.hidden ? null : card.serials[0];
    },
    update: (model, cursor) => card.update(model, cursor),
    destroy() {
      card.destroy();
      el.remove();
    },
  };
}

class Card {
  constructor(el, ctx) {
    this.el = el;
    this.ctx = ctx;
    /** @type {import("./trace.js").TraceModel|null} */ this.model = null;
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

  update(model, cursor) {
    if (model !== this.model) this.hide();
    this.model = model;
    this.cursor = cursor;
    if (!this.el.hidden) this._draw();
  }

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

  /** A sheet must not lie over the token that it is about. */
  _reveal() {
    if (!this.el.classList.contains("hx-sheet") || !this.anchor?.isConnected) return;
    const hidden = this.anchor.getBoundingClientRect().bottom + 28 - this.el.getBoundingClientRect().top;
    if (hidden > 0) scrollBy({ top: hidden });
  }

  /** Escape closes the card and, while there is one, means nothing else. */
  _escape(event) {
    if (event.key !== "Escape" || this.el.hidden) return;
    event.preventDefault();
    this.hide();
  }

  _outside(target) {
    if (this.el.hidden || this.el.contains(target) || target.closest?.("[data-serial]")) return;
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
    const close = element("button", "hx-card-close", "\u00d7");
    close.type = "button";
    close.setAttribute("aria-label", "Close the card");
    close.addEventListener("click", () => this.hide());
    this.el.classList.toggle("hx-pinned", this.pinned);
    const note = this.pinned || matchMedia(PHONE).matches ? "" : " Click the token for every verifier\u2019s rows.";
    this.el.replaceChildren(
      close,
      ...records.map((r) => about(r, model, this.cursor, note === "")),
      element(
        "p",
        "hx-card-note",
        `p, q and \u03b1 are of the laws that were used; the bars are the raw softmax at temperature 1.${note}`,
      ),
    );
  }

  /** Beside the anchor, never over it, always inside the window. */
  _put() {
    const { el, anchor } = this;
    if (el.hidden) return;
    el.classList.toggle("hx-sheet", matchMedia(PHONE).matches);
    if (matchMedia(PHONE).matches || !anchor?.isConnected) return el.style.removeProperty("translate");
    const at = anchor.getBoundingClientRect();
    const { offsetWidth: w, offsetHeight: h } = el;
    const below = at.bottom + 18 + h < innerHeight || at.top < innerHeight / 2;
    const y = below ? Math.min(at.bottom + 18, Math.max(8, innerHeight - h - 8)) : Math.max(8, at.top - h - 10);
    const covers = y < at.bottom && y + h > at.top;
    const x = covers && at.right + 12 + w < innerWidth ? at.right + 12 : covers ? at.left - w - 12 : at.left - 12;
    el.style.translate = `${Math.round(Math.min(Math.max(8, x), innerWidth - w - 8))}px ${Math.round(y)}px`;
  }
}

const seen = (record, cursor) => record.judgements.filter((j) => j.t <= cursor);

/** `full`: with the rows of every verifier, not only of the last one. */
function about(record, model, cursor, full) {
  const level = model.levels[record.level];
  const part = element("div", "hx-card-token");
  const head = part.appendChild(element("header", "hx-card-head"));
  head.append(badge(level), element("strong", "hx-card-text", model.pieceText(record.id)));
  head.append(element("span", "hx-card-state", STATE[model.state(record, cursor)]));
  part.append(facts(record, model, level));
  const offered = candidates(record);
  if (offered.length > (record.how === "draft" ? 1 : 0)) part.append(rivals(offered, record, model, cursor));
  if (record.drawn?.pRow && record.how !== "draft")
    part.append(rows([["p", record.drawn.pRow, level.hue]], record, model));
  const verdicts = seen(record, cursor);
  verdicts.forEach((judgement, i) => part.append(verdict(judgement, record, model, full || i === verdicts.length - 1)));
  if (!verdicts.length) part.append(element("p", "hx-card-none", unjudged(record, model)));
  return part;
}

const STATE = { committed: "committed", tentative: "not committed yet", gone: "not in the text", future: "" };
const HOW = { draft: "drafted", correct: "correction", bonus: "bonus" };

function unjudged(record, model) {
  if (record.level === model.levels.length - 1) return "The target drew it itself: nothing has to check it.";
  if (record.insteadOf !== null && record.insteadOf !== undefined)
    return `Not asked: ${model.pieceText(model.tokens.get(record.insteadOf).id)} was kept in its place, or before it.`;
  return record.lostWith === null
    ? "No verifier has judged it yet."
    : "Lost with a rejected token before it, before anybody judged it.";
}

function facts(record, model, level) {
  const list = element("dl", "hx-card-facts");
  const ms = msPerToken(model, record);
  const round = model.rounds[upTo(model.rounds, record.round, (x) => x.round) - 1];
  const add = (name, value) => list.append(element("dt", "", name), element("dd", "", value));
  const from = originOf(level.kind, record.source)?.title ?? (level.name.includes(record.source) ? "" : record.source);
  const source = from ? ` (${from})` : "";
  add("supplied by", `${level.name}, ${HOW[record.how] ?? record.how}${source}`);
  copiedFrom(list, record, model);
  const stop = stopText(level, model.levels, record.depth);
  if (stop) add(record.how === "draft" ? "drafted at" : "drawn at", stop);
  add("id", String(record.id));
  add("position", String(record.at));
  add(
    "round",
    round
      ? `${record.round}, ${figure((round.t1 - round.t0) / 1e6)}${NBSP}ms${ms === null ? "" : `, ${figure(ms)}${NBSP}ms a token`}`
      : String(record.round),
  );
  if (record.drawn) add("drawn with p", figure(record.drawn.p));
  return list;
}

/** A copied token: what it repeats, in its place, and why the drafter looked there. */
function copiedFrom(list, record, model) {
  const found = origin(model, record);
  if (!found) return;
  const place = element("dd", "hx-copied");
  place.append(
    element("span", "hx-copied-where", `${found.where}: `),
    `…${found.before}`,
    element("mark", "", found.token),
    `${found.after}…`,
  );
  const { alike, share } = record.copied;
  const part = share >= 1 ? "" : `, ${Math.floor(1000 * share) / 10}${NBSP}% of its q`;
  list.append(element("dt", "", "copied from"), place);
  list.append(
    element("dt", ""),
    element("dd", "hx-copied-why", `${alike}${NBSP}token${alike === 1 ? "" : "s"} before it the same${part}`),
  );
}

const FATE = { waiting: "waits", kept: "kept", rejected: "rejected", lost: "not asked", unasked: "not asked" };

/** The candidates for a token's place, in judging order, and what became of each. */
function rivals(offered, record, model, cursor) {
  const part = element("div", "hx-rivals");
  const judged = record.fork.comb.judged;
  const by = model.levels[(judged ?? { level: record.level + 1 }).level];
  part.append(element("p", "hx-rivals-title", `offered for this place, in the order in which ${by.tag} judges`));
  const list = part.appendChild(element("ol", "hx-rivals-list"));
  for (const one of offered) list.append(rival(one, model, cursor, one === record));
  if (record.how !== "draft") {
    const own = rival(record, model, cursor, true);
    own.querySelector(".hx-rival-fate").textContent = HOW[record.how];
    list.append(own);
  }
  return part;
}

function rival(one, model, cursor, mine) {
  const level = model.levels[one.level];
  const from = originOf(level.kind, one.source);
  const drafted = one.how === "draft";
  const what = drafted ? fate(one, cursor) : "kept";
  const item = element("li", "hx-rival");
  item.dataset.fate = what;
  if (mine) item.setAttribute("aria-current", "true");
  const letter = badge(from ? { tag: one.source, underline: level.underline, hue: from.hue } : level);
  letter.title = from?.title ?? level.name;
  const verdict = what === "kept" || what === "rejected" ? one.judgements[0] : null;
  item.append(
    letter,
    element("span", "hx-rival-text", model.pieceText(one.id) || "\u2205"),
    element("span", "hx-rival-p", verdict && drafted ? `α${NBSP}${figure(verdict.alpha)}` : ""),
    element("span", "hx-rival-fate", FATE[what]),
  );
  return item;
}

function verdict(j, record, model, full) {
  const level = model.levels[j.level];
  const part = element("div", `hx-verdict hx-${j.outcome}`);
  const line = part.appendChild(element("p", "hx-verdict-line"));
  line.append(badge(level), element("span", "", `${level.name}: `), element("b", "", j.outcome));
  const stop = stopText(level, model.levels);
  if (stop) line.append(element("span", "hx-verdict-stop", stop));
  if (j.outcome !== "unjudged") {
    part.append(
      element("p", "hx-verdict-sum", `p${NBSP}${figure(j.p)}   q${NBSP}${figure(j.q)}   α${NBSP}${figure(j.alpha)}`),
      coin(j),
    );
    if (level.rule === "block")
      part.append(
        element("p", "hx-verdict-sum", "Rule block: α is h, the probability that the block is kept up to here."),
      );
  }
  const residual = j.outcome === "rejected" ? j.residual : null;
  const below = model.levels[j.below ?? Math.max(0, j.level - 1)];
  const heads = [
    ["p", j.pRow, level.hue],
    ["q", j.qRow, below.hue],
    ["residual", residual, "var(--hue-reject)"],
  ].filter((x) => x[1]);
  if (heads.length && full) part.append(rows(heads, record, model));
  return part;
}

/** The coin against the acceptance probability, as a line from 0 to 1. */
function coin(j) {
  const part = element("p", "hx-coin");
  const sign = j.outcome === "accepted" ? "<" : "\u2265";
  part.append(element("span", "hx-coin-bar"));
  part.firstChild.style.setProperty("--alpha", clamp(j.alpha));
  if (j.coin !== null) {
    part.firstChild.dataset.coin = "1";
    part.firstChild.style.setProperty("--coin", clamp(j.coin));
  }
  const certain = j.alpha <= 0 || j.alpha >= 1 ? `certain: ${j.outcome}` : "kept with a longer prefix (rule block)";
  const words =
    j.coin === null ? `${certain}, no coin thrown` : `u ${figure(j.coin)} ${sign} α ${figure(j.alpha)}: ${j.outcome}`;
  part.append(element("span", "", words));
  return part;
}

function rows(heads, record, model) {
  const part = element("div", "hx-rows");
  for (const [name, row, hue] of heads) {
    const list = part.appendChild(element("ol", "hx-row"));
    list.setAttribute("aria-label", `${name}: most likely tokens`);
    list.style.setProperty("--hue", hue);
    const certain = row.ids.length === 1 && row.probs[0] === 1;
    list.append(element("li", "hx-row-name", certain ? `${name}, one-hot` : name));
    row.ids.slice(0, 8).forEach((id, i) => list.append(bar(model.pieceText(id), row.probs[i], id === record.id)));
    if (row.tail > 0.0005) list.append(bar("others", row.tail, false, "hx-bar-tail"));
  }
  return part;
}

function bar(label, value, mine, more = "") {
  const item = element("li", `hx-bar ${more} ${mine ? "hx-bar-mine" : ""}`.trim());
  item.style.setProperty("--p", clamp(value));
  item.append(element("span", "hx-bar-label", label || "\u2205"), element("span", "hx-bar-value", figure(value)));
  return item;
}

function badge(level) {
  const node = element("span", "hx-badge", level.tag);
  node.dataset.line = level.underline;
  node.style.setProperty("--hue", level.hue);
  return node;
}

const clamp = (x) => String(Math.min(1, Math.max(0, x ?? 0)));

/** Three significant figures, never in powers of ten. */
export function figure(x) {
  if (x === null || x === undefined || !Number.isFinite(x)) return "\u2013";
  if (x === 0 || x === 1) return String(x);
  if (Math.abs(x) < 0.001) return "<0.001";
  return Math.abs(x) >= 100 ? String(Math.round(x)) : String(Number(x.toPrecision(3)));
}
