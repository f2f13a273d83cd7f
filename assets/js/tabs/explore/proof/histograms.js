/** One position drawn a thousand times: three histograms that fill beside each other, each against p. */

import { h, say, stepButton } from "../../../shared/kit/dom.js";
import { distance } from "../../../shared/run/distributions.js";
import { badge } from "../../../shared/levels/badge.js";
import { RULES, Tally, candidatesOf, expected, limit, pairOf, standardError, telling } from "./draws.js";
import { DRAWS } from "../../../../text/en/proof.js";
import { figure, fixed } from "../../../../text/numbers.js";

/** @import {Player} from "../../../shared/player/player.js"
 *  @import {TokenRecord} from "../../../shared/run/records.js"
 *  @import {TraceModel} from "../../../shared/run/trace.js" @import {Candidate, Pair, Rule} from "./draws.js" */

const MANY = 1000;
const LASTS = 2600; // ms

/** @param {{player: Player, onChange: () => void, selected?: () => number|null}} ctx */
export function createDrawing(ctx) {
  const where = h("span.hx-proof-where");
  const verifiers = h("span.hx-an-by", { role: "group", "aria-label": DRAWS.verifier });
  const many = h("button.hx-quiet.hx-proof-many", { text: DRAWS.again, onclick: () => run() });
  const once = h("button.hx-quiet", { text: DRAWS.one, onclick: () => grow(1) });
  const clear = h("button.hx-quiet", { text: DRAWS.clear, onclick: () => restart() });
  const intro = h("p.hx-an-note");
  const last = h("p.hx-an-note.hx-proof-last", { role: "status" });
  const notes = h("p.hx-an-note.hx-proof-notes");
  const charts = h("div.hx-proof-charts");
  const chance = h("p.hx-an-note", { tabindex: "0", "data-tip": DRAWS.chanceTip });
  const el = h("div.hx-proof-drawing", { role: "group", "aria-label": DRAWS.label }, [
    h("div.hx-proof-bar", [
      stepButton(-1, DRAWS.before, () => move(-1)),
      where,
      stepButton(1, DRAWS.after, () => move(1)),
      verifiers,
      many,
      once,
      clear,
    ]),
    intro,
    charts,
    h("div.hx-proof-foot", [last, chance]),
    notes,
  ]);

  /** @type {TraceModel} */ let model = /** @type {any} */ (null); // until a run is shown
  let version = -1;
  /** @type {Candidate[]} */ let all = [];
  /** @type {{record: TokenRecord, level: number}|null} */ let chosen = null;
  /** @type {Tally|null} */ let tally = null;
  /** @type {any} */ let pair = null;
  let frame = 0;
  let seed = 0;
  /** @type {Bar[]} */ let cells = [];
  /** @type {Record<string, HTMLElement>} */ let offs = {};

  const verdict = () =>
    all.find((x) => x.record === chosen?.record)?.verdicts.find((j) => j.level === chosen?.level) ?? null;
  const text = (/** @type {number|null} */ id) => (id === null ? DRAWS.others : model.pieceText(id) || "\u2205");

  /** @param {TokenRecord|undefined} record @param {number|null} level */
  function choose(record, level = null) {
    const verdicts = all.find((x) => x.record === record)?.verdicts ?? [];
    const j = verdicts.find((x) => x.level === level) ?? verdicts.at(-1);
    if (!j || !record) return;
    chosen = { record, level: j.level };
    pair = pairOf(model, record, j);
    restart();
    ctx.onChange();
  }

  function move(/** @type {number} */ by) {
    const here = all.findIndex((x) => x.record === chosen?.record);
    const next = all[Math.min(all.length - 1, Math.max(0, here + by))];
    if (next && next.record !== chosen?.record) choose(next.record, chosen?.level ?? null);
  }

  function restart() {
    cancelAnimationFrame(frame);
    seed += 1;
    tally =
      pair && chosen ? new Tally(pair, (model.header?.seed ?? 0) * 7919 + chosen.record.serial * 13 + seed) : null;
    build();
    show();
  }

  function grow(/** @type {number} */ by) {
    if (!tally) return;
    cancelAnimationFrame(frame);
    tally.to(tally.n + by);
    show();
  }

  /** A thousand more: slowly at first; all at once where movement is not wanted. */
  function run() {
    if (!tally) return;
    if (ctx.player.reduced) return grow(MANY);
    cancelAnimationFrame(frame);
    const [own, from, began] = [tally, tally.n, performance.now()];
    const tick = () => {
      const part = Math.min(1, (performance.now() - began) / LASTS);
      own.to(from + Math.max(1, Math.round(MANY * part ** 2)));
      show();
      if (part < 1) frame = requestAnimationFrame(tick);
    };
    tick();
  }

  function build() {
    const j = verdict();
    charts.replaceChildren();
    cells = [];
    offs = {};
    verifiers.replaceChildren();
    for (const button of [many, once, clear]) button.disabled = !tally;
    if (!chosen || !j || !pair) {
      say(where, DRAWS.nothing);
      say(
        intro,
        model?.tokens.size && ![...model.tokens.values()].some((x) => x.judgements.some((y) => y.pRow))
          ? DRAWS.norows
          : "",
      );
      return;
    }
    const level = model.levels[j.level];
    const below = model.levels[j.below ?? Math.max(0, j.level - 1)];
    where.replaceChildren(`${DRAWS.position} ${chosen.record.at}: `, h("strong", text(chosen.record.id)));
    verifiers.append(h("span.hx-an-muted", DRAWS.verifier));
    for (const one of all.find((x) => x.record === chosen?.record)?.verdicts ?? [])
      verifiers.append(
        h(
          "button.hx-an-verifier",
          { "aria-pressed": String(one.level === j.level), onclick: () => choose(chosen?.record, one.level) },
          [badge(model.levels[one.level]), h("span.hx-sr", model.levels[one.level].name)],
        ),
      );
    say(intro, (pair.named ? DRAWS.named : DRAWS.intro)(below.name, level.name));
    const order = groups(pair, text);
    for (const rule of RULES) {
      const one = chart(rule, pair, order, level.hue);
      charts.append(one.el);
      cells.push(...one.cells);
      offs[rule] = one.off;
    }
    const off = RULES.slice(1).map((rule) => distance(limit(pair, rule), pair.p));
    say(
      notes,
      [
        DRAWS.legend,
        pair.close ? DRAWS.close : DRAWS.estimate,
        pair.ids.includes(null) ? DRAWS.symbols : "",
        level.rule === "block" ? DRAWS.block : "",
        Math.max(...off) < 1e-4 ? DRAWS.same : "",
      ]
        .filter(Boolean)
        .join(" "),
    );
  }

  function show() {
    if (!tally) return;
    const { n } = tally;
    for (const { bar, value, place, rule } of cells) {
      const shares = tally.shares(rule);
      const share = place.reduce((sum, i) => sum + shares[i], 0);
      const p = place.reduce((sum, i) => sum + pair.p[i], 0);
      bar.style.setProperty("--share", String(share));
      bar.style.setProperty("--error", String(standardError(p, n || 1)));
      bar.dataset.drawn = String(n > 0);
      say(value, `${n ? fixed(share, 3) : "\u2013"} / ${fixed(p, 3)}`);
    }
    for (const rule of RULES) say(offs[rule], n ? DRAWS.off(figure(tally.off(rule))) : "\u2013");
    say(chance, n ? DRAWS.chance(figure(expected(pair.p, n)), n.toLocaleString("en")) : "");
    const one = tally.last;
    const share = pair.p.reduce(
      (/** @type {number} */ sum, /** @type {number} */ x, /** @type {number} */ i) => sum + Math.min(x, pair.q[i]),
      0,
    );
    const said =
      one && n < 20
        ? `${DRAWS.last({ drafted: text(pair.ids[one.drafted]), coin: figure(one.coin), alpha: figure(one.alpha), kept: one.kept, out: text(pair.ids[one.out]) })}. `
        : "";
    say(last, n ? `${said}${DRAWS.kept(tally.kept, n, share)}` : "");
  }

  return {
    el,
    /** @returns {number|null} */
    get serial() {
      return chosen?.record.serial ?? null;
    },
    update(/** @type {TraceModel} */ next) {
      if (next === model && next.version === version) return;
      if (next !== model) chosen = null;
      model = next;
      version = next.version;
      all = candidatesOf(model);
      if (chosen) return;
      const asked = all.find((x) => x.record.serial === ctx.selected?.());
      const first = asked ? { record: asked.record, level: null } : telling(model, all);
      if (first) choose(first.record, first.level);
      else restart();
    },
    key(/** @type {string} */ name) {
      if (name !== "ArrowLeft" && name !== "ArrowRight") return false;
      move(name === "ArrowRight" ? 1 : -1);
      return true;
    },
  };
}

// ---- One rule's histogram: a bar for each symbol, p as a line across it, and how far what it fills towards is from p.

const SHOWN = 8; // symbols

/** @typedef {{text: string, places: number[]}} Group symbols that one bar stands for
 *  @typedef {{bar: HTMLElement, value: HTMLElement, place: number[], rule: Rule}} Bar */

/** The symbols that are shown, falling by p: the likeliest, and the rest as one.
 *  @param {Pair} pair @param {(id: number|null) => string} text @returns {Group[]} */
export function groups(pair, text) {
  const by = pair.ids
    .map((id, i) => ({ id, i, weight: id === null ? -1 : Math.max(pair.p[i], pair.q[i]) }))
    .sort((a, b) => b.weight - a.weight);
  const own = by.slice(0, SHOWN - 1).filter((x) => x.id !== null);
  const rest = by.filter((x) => !own.includes(x)).map((x) => x.i);
  const lines = own.sort((a, b) => pair.p[b.i] - pair.p[a.i]).map((x) => ({ text: text(x.id), places: [x.i] }));
  return rest.length ? [...lines, { text: text(null), places: rest }] : lines;
}

/** @param {Rule} rule @param {Pair} pair @param {Group[]} order
 *  @param {string} hue of the verifier @returns {{el: HTMLElement, cells: Bar[], off: HTMLElement}} */
export function chart(rule, pair, order, hue) {
  const { name, tip } = DRAWS.rules[rule];
  const dist = limit(pair, rule);
  const far = distance(dist, pair.p);
  const off = h("b.hx-proof-off", { tabindex: "0", "data-tip": DRAWS.offTip });
  const list = h("ol.hx-proof-list");
  const cells = order.map(({ text, places }) => {
    const p = places.reduce((sum, i) => sum + pair.p[i], 0);
    const bar = h("span.hx-proof-bar-line", { style: { "--p": String(p) } }, [h("i"), h("em"), h("u")]);
    const value = h("span.hx-proof-share");
    list.append(h("li", [h("span.hx-proof-token", text), bar, value]));
    return { bar, value, place: places, rule };
  });
  const el = h(
    "section",
    {
      class: `hx-proof-chart hx-proof-${rule}`,
      "aria-label": name,
      style: { "--hue": rule === "right" ? hue : "var(--hue-reject)" },
    },
    [
      h("h3", h("span", name)),
      h("p.hx-an-note", tip),
      list,
      h("p.hx-proof-figures", [off, h("span.hx-an-muted", far < 1e-9 ? DRAWS.exact : DRAWS.fills(far))]),
    ],
  );
  return { el, cells, off };
}
