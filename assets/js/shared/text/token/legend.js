/** How to read the text: what its colours mean, in one line, and below it one token with its parts named and all other
 *  marks. */

import { element, h } from "../../kit/dom.js";
import { REJECT, originOf } from "../../levels/kinds.js";
import { colouring } from "./token.js";
import { LEGEND, SPECIMEN } from "../../../../text/en/legend.js";
import { VERDICT } from "../../../../text/en/card.js";
import { PRICE } from "../../../../text/en/run.js";

/** @typedef {import("../../run/trace.js").TraceModel} TraceModel @typedef {import("../../run/records.js").TokenRecord} TokenRecord @typedef {import("./token.js").Category} Category
 *  @typedef {import("./token.js").Seen} Seen @typedef {import("./token.js").Example} Example
 *  @typedef {{letter: string, name: string, hue: string, underline: string, by?: string, strength?: number}} Entry */

/** The categories that a model has held up to a cursor, in order of level. */
function categories(/** @type {TraceModel} */ model, /** @type {number} */ cursor, /** @type {string} */ by) {
  const scheme = colouring(model, by);
  if (scheme.all) return scheme.all;
  scheme.seen ??= firstSeen(model, by, scheme);
  return scheme.seen.filter(({ t }) => t <= cursor).map(({ category }) => category);
}

/** All categories of a model, in order of level, each with the time at which its first token came.
 *  @param {TraceModel} model @param {string} by @param {import("./token.js").Scheme} scheme */
function firstSeen(model, by, scheme) {
  /** @type {Map<string, Seen>} */ const found = new Map();
  const see = (/** @type {TokenRecord} */ record, /** @type {number} */ t, /** @type {number} */ order) => {
    const category = scheme.of(record, t);
    const known = found.get(category.key);
    if (known) known.t = Math.min(known.t, t);
    else found.set(category.key, { t, category: { ...category, order: category.key === "none" ? -1 : order } });
  };
  if (by === "level") model.levels.forEach((_, i) => see(/** @type {TokenRecord} */ ({ level: i }), -Infinity, i));
  else
    for (const record of model.tokens.values())
      for (const t of scheme.changes ? [record.tDraft, ...record.passed.map((x) => x.t)] : [record.tDraft])
        see(record, t, record.level);
  const place = (/** @type {Seen} */ { category }) => category.order;
  return [...found.values()].sort((a, b) => place(a) - place(b) || (a.category.key < b.category.key ? -1 : 1));
}

/** How to read the text. update(model, cursor, {colourBy, ghosts}).
 *  @param {HTMLElement} above where one line says what the colours mean @param {HTMLElement} below where all other marks are named
 */
export function create(above, below) {
  const colours = above.appendChild(element("div", "hx-colours"));
  const el = below.appendChild(element("div", "hx-legend"));
  let drawn = "";
  return {
    el,
    /** @param {TraceModel|null} model @param {number} cursor */
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
      if (!model.header.lossless && model.levels.length > 1) struck.push(SPARED);
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

/** What a lossy rule kept. */
const SPARED = { letter: LEGEND.word, name: VERDICT.outcomes.spared, hue: REJECT.hue, underline: "spared" };

const listOf = (/** @type {string} */ name, /** @type {Entry[]} */ entries) =>
  h("ul.hx-legend-list", { "aria-label": name }, entries.map(entry));

/** What is drawn besides the levels' colours. @param {TraceModel} model @param {string} ghosts */
function drawnToo(model, ghosts) {
  /** @type {Entry[]} */
  const marks = [{ letter: "", name: LEGEND.tentative, hue: "var(--muted)", underline: "outline" }];
  if (!model.header?.lossless && model.levels.length > 1) marks.push({ ...SPARED, name: PRICE.spared });
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
function letterNames(/** @type {TraceModel} */ model, /** @type {number} */ cursor) {
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

/** The level to explain ghosts with: the last verifier below the target, or the target. @param {TraceModel} model */
const catcher = (model) => model.levels[Math.max(1, model.levels.length - 2)];

function entry(/** @type {Entry} */ category) {
  const { letter, underline, hue, strength, by, name } = category;
  const style = { "--hue": hue, "--tint": strength ? `${strength}%` : null };
  return h("li.hx-legend-item", [
    h("span.hx-legend-swatch", { "data-line": underline, style, text: letter }),
    by && h("span.hx-legend-by", by),
    h("span.hx-legend-name", name),
  ]);
}

// ---- One token of the run with its parts named: what its colour, underline, letter and dots say.

const LONGEST = 14; // letters
const SEARCHED = 200; // tokens

/** The token that explains itself best: a word that a level below the target let pass, else any word; null before the
 *  first one. @param {import("../../run/trace.js").TraceModel} model
 *  @param {Pick<import("./token.js").Scheme, "of">} scheme */
export function specimenOf(model, scheme) {
  const top = model.levels.length - 1;
  /** @type {Example|null} */ let found = null;
  for (const serial of model.committed.slice(0, SEARCHED)) {
    const record = model.tokens.get(serial);
    const text = record ? model.pieceText(record.id).replace(/^\u00b7/, "") : "";
    if (!record || !/^\p{L}{3,}$/u.test(text) || text.length > LONGEST) continue;
    const passed = record.passed.filter((x) => x.level < top).map((x) => model.levels[x.level]);
    if (found && !passed.length) continue;
    const category = scheme.of(record, Infinity);
    found = { key: `${serial} ${category.name}`, text, category, passed };
    if (passed.length || top < 2) break;
  }
  return found;
}

/** @param {Example} example @param {string} title what colours say */
export function specimen({ text, category, passed }, title) {
  const { underline, letter, hue, strength } = category;
  const last = passed.at(-1);
  const style = { "--hue": hue, "--tint": strength ? `${strength}%` : null, "--dot": last?.hue ?? null };
  const dots = last ? "\u2022".repeat(passed.length) : null;
  const shown = [SPECIMEN.colour, underline === "none" ? "" : SPECIMEN.line, SPECIMEN.letter(letter)];
  const by = SPECIMEN.passed(passed.map((level) => level.tag));
  return h("figure.hx-specimen", [
    h("span.hx-specimen-token", { "aria-hidden": "true" }, [
      h("span.hx-tok", { "data-line": underline, "data-mark": letter, "data-dots": dots, style, text }),
    ]),
    h("ul.hx-specimen-parts", [
      last && part(passed.length > 1 ? SPECIMEN.dots : SPECIMEN.dot, by),
      part(shown.filter(Boolean).join(", "), title),
    ]),
  ]);
}

const part = (/** @type {string} */ name, /** @type {string} */ text) => h("li", [h("b", name), `: ${text}`]);
