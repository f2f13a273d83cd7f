/** What a token's colour says: one category per token for each way to colour, and the legend that names them.
 *  A category has a letter, a hue and an underline; none is told by colour alone. */

import { acceptedBy } from "./acceptor.js";
import { isCopy } from "../../run/copies.js";
import { originOf, REJECT } from "../../levels/kinds.js";
import { specimen, specimenOf } from "./specimen.js";
import { element } from "../../kit/dom.js";
import { upTo } from "../../kit/order.js";
import { LEGEND } from "../../../../text/en/legend.js";

const NONE = { letter: "\u2013", hue: "var(--muted)", underline: "none" };
const NICE = [1, 1.5, 2, 3, 5, 7, 10];
const STEPS = [9, 18, 28, 40, 54]; // percent of the hue, slow is strong

/** @type {WeakMap<object, {version: number, by: string, scheme: any}>} */
const schemes = new WeakMap();

/** How the tokens of a model are coloured: `of(record)` gives {key, letter, name, hue, underline, strength?}. */
export function colouring(model, by) {
  const kept = schemes.get(model);
  if (kept && kept.version === model.version && kept.by === by) return kept.scheme;
  const scheme = schemeOf(model, by);
  schemes.set(model, { version: model.version, by, scheme });
  return scheme;
}

function schemeOf(model, by) {
  if (by === "time") return byTime(model);
  const level = (i) => ({
    key: `l${i}`,
    letter: model.levels[i].tag,
    name: model.levels[i].name,
    hue: model.levels[i].hue,
    underline: model.levels[i].underline,
  });
  if (by === "source") return { title: LEGEND.source, of: (record) => sourceOf(model, record, level) };
  if (by === "passed")
    return {
      title: LEGEND.passed,
      of: (record, cursor) => passedOf(model, record, cursor, level),
      changes: true,
    };
  return { title: LEGEND.level, of: (record) => level(record.level) };
}

function sourceOf(model, record, level) {
  const base = level(record.level);
  const origin = originOf(model.levels[record.level].kind, record.source);
  if (origin) return { ...base, key: `d${record.source}`, letter: record.source, name: origin.title, hue: origin.hue };
  if (!record.source || record.how !== "draft") return base;
  const own = { ...base, key: `${base.key}:${record.source}`, name: named(base.name, record.source) };
  if (!isCopy(record)) return own;
  return {
    ...own,
    key: `${own.key}:copy`,
    letter: `${own.letter}c`,
    name: LEGEND.copied(own.name),
    hue: copyHue(own.hue),
  };
}

/** A copy leans to the colour of lookups: it is one, inside a draft. */
const copyHue = (hue) => `color-mix(in oklab, ${hue} 35%, var(--mark))`;

const named = (name, source) => (name.includes(source) ? name : `${name} (${source})`);

function passedOf(model, record, cursor, level) {
  const top = model.levels.length - 1;
  const highest = acceptedBy(record, top, cursor);
  if (highest === top) return { ...level(top), name: LEGEND.targets };
  if (highest === null) return { ...NONE, key: "none", name: LEGEND.none };
  return { ...level(highest), key: `p${highest}`, name: LEGEND.passedAt(model.levels[highest].name) };
}

/** ms of a token's round, shared among the tokens that the round committed. */
export function msPerToken(model, record) {
  const round = model.rounds[upTo(model.rounds, record.round, (x) => x.round) - 1];
  return round?.round === record.round && round.tokens ? (round.t1 - round.t0) / 1e6 / round.tokens : null;
}

function byTime(model) {
  const known = model.rounds
    .filter((x) => x.tokens)
    .map((x) => (x.t1 - x.t0) / 1e6 / x.tokens)
    .sort((a, b) => a - b);
  const middle = nice(known[known.length >> 1] ?? 1);
  const edges = [0.5, 0.8, 1.25, 2].map((x) => x * middle);
  const names = [
    LEGEND.under(ms(edges[0])),
    ...edges.slice(1).map((x, i) => LEGEND.between(ms(edges[i]), ms(x))),
    LEGEND.over(ms(edges[3])),
  ];
  const step = (i) => ({
    key: `t${i}`,
    letter: String(i + 1),
    name: names[i],
    hue: "var(--hue-target)",
    underline: "none",
    strength: STEPS[i],
  });
  return {
    title: LEGEND.time,
    all: names.map((_, i) => step(i)),
    of: (record) => {
      const value = msPerToken(model, record);
      return value === null ? { ...NONE, key: "none", name: LEGEND.unknown } : step(upTo(edges, value, (x) => x));
    },
  };
}

function nice(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-3)));
  return NICE.reduce(
    (best, x) => (Math.abs(Math.log((x * power) / value)) < Math.abs(Math.log(best / value)) ? x * power : best),
    power,
  );
}

const ms = (x) => `${x >= 10 ? Math.round(x) : Number(x.toPrecision(2))} ms`;

/** The categories that a model has held up to a cursor, in order of level. */
function categories(model, cursor, by) {
  const scheme = colouring(model, by);
  if (scheme.all) return scheme.all;
  scheme.seen ??= firstSeen(model, by, scheme);
  return scheme.seen.filter(({ t }) => t <= cursor).map(({ category }) => category);
}

/** All categories of a model, in order of level, each with the time at which its first token came. */
function firstSeen(model, by, scheme) {
  const found = new Map();
  const see = (record, t, order) => {
    const category = scheme.of(record, t);
    const known = found.get(category.key);
    if (known) known.t = Math.min(known.t, t);
    else found.set(category.key, { t, category: { ...category, order: category.key === "none" ? -1 : order } });
  };
  if (by === "level") model.levels.forEach((_, i) => see({ level: i }, -Infinity, i));
  else
    for (const record of model.tokens.values())
      for (const t of scheme.changes ? [record.tDraft, ...record.passed.map((x) => x.t)] : [record.tDraft])
        see(record, t, record.level);
  const place = ({ category }) => category.order;
  return [...found.values()].sort((a, b) => place(a) - place(b) || (a.category.key < b.category.key ? -1 : 1));
}

/**
 * How to read the text. update(model, cursor, {colourBy, ghosts}).
 * @param {HTMLElement} above where one line says what the colours mean @param {HTMLElement} below where all other marks are named
 */
export function create(above, below) {
  const colours = above.appendChild(element("div", "hx-colours"));
  const el = below.appendChild(element("div", "hx-legend"));
  let drawn = "";
  return {
    el,
    update(model, cursor, { colourBy = "level", ghosts = "show" } = {}) {
      if (!model?.header) return;
      const scheme = colouring(model, colourBy);
      const all = categories(model, cursor, colourBy);
      const example = (scheme.example ??= specimenOf(model, scheme));
      const rest = [...(colourBy === "source" || ghosts === "hide" ? [] : letterNames(model, cursor))];
      rest.push(...drawnToo(model, ghosts));
      const signature = JSON.stringify([colourBy, all, rest, example?.key]);
      if (signature === drawn) return;
      drawn = signature;
      const title = scheme.title;
      const struck = ghosts !== "hide" && model.levels.length > 1 ? [STRUCK] : [];
      colours.replaceChildren(
        element("span", "hx-colours-by", LEGEND.by(title)),
        listOf(LEGEND.label(title), [...all, ...struck]),
      );
      el.replaceChildren(...(example ? [specimen(example, title)] : []), listOf(LEGEND.marks, rest));
    },
    destroy() {
      colours.remove();
      el.remove();
    },
  };
}

/** What everybody sees struck out, whoever struck it. */
const STRUCK = { letter: LEGEND.word, name: LEGEND.struck, hue: REJECT.hue, underline: "struck" };

function listOf(name, entries) {
  const list = element("ul", "hx-legend-list");
  list.setAttribute("aria-label", name);
  list.append(...entries.map(entry));
  return list;
}

/** What is drawn besides the levels' colours. */
function drawnToo(model, ghosts) {
  const marks = [{ letter: "", name: LEGEND.tentative, hue: "var(--muted)", underline: "outline" }];
  if (ghosts !== "hide" && model.levels.length > 1) {
    const by = catcher(model);
    marks.unshift(
      { letter: LEGEND.word, by: `x${by.tag}`, name: LEGEND.rejected(by.tag), hue: by.hue, underline: "struck" },
      { letter: "+2", name: LEGEND.more, hue: REJECT.hue, underline: "plain" },
    );
  }
  return marks;
}

/** What the letters beside candidates stand for: the databases that they came from. */
function letterNames(model, cursor) {
  const found = new Map();
  for (const tree of model.trees) {
    if (tree.t > cursor) break;
    for (const { level, source } of tree.nodes) {
      const { underline, kind } = model.levels[level];
      const origin = originOf(kind, source);
      if (origin) found.set(source, { letter: source, name: origin.title, hue: origin.hue, underline });
    }
  }
  return [...found.values()];
}

/** The level to explain ghosts with: the last verifier below the target, or the target. */
const catcher = (model) => model.levels[Math.max(1, model.levels.length - 2)];

function entry(category) {
  const item = element("li", "hx-legend-item");
  const swatch = element("span", "hx-legend-swatch", category.letter);
  swatch.dataset.line = category.underline;
  swatch.style.setProperty("--hue", category.hue);
  if (category.strength) swatch.style.setProperty("--tint", `${category.strength}%`);
  item.append(swatch, ...(category.by ? [element("span", "hx-legend-by", category.by)] : []));
  item.append(element("span", "hx-legend-name", category.name));
  return item;
}
