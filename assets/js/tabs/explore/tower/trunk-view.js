/** The layers of a shared model as one column of thin cells, the first layer at the bottom. At rest a cell has the
 *  colour of the level that runs it first; in a run its bars are the rows that each level ran on it in this round. */

import { term } from "../../../shared/glossary/term.js";
import { h, say } from "../../../shared/kit/dom.js";
import { roundNumber } from "../../../shared/kit/round-number.js";
import { ofRun, stated } from "../../../shared/levels/stated.js";
import { layersText, shareText } from "../../../shared/levels/trunk.js";
import { rowsByLayer } from "../../../shared/run/ran.js";
import { SHAFT, TRUNK } from "../../../../text/en/tower.js";
import { ratio } from "../../../../text/numbers.js";

/** @import {Trunk} from "../../../shared/levels/trunk.js" @import {Gauge} from "../../../shared/run/figures.js"
 *  @import {TokenRecord, Tree} from "../../../shared/run/records.js"
 *  @import {TraceModel} from "../../../shared/run/trace.js" */

const GAP = 0.07; // of the column's height: what a tag needs

/** @param {Trunk} trunk
 *  @param {(index: number) => {tag: string, hue: string}} look of a level of the stack */
export function trunkView(trunk, look) {
  const cells = Array.from({ length: trunk.layers }, (_, i) => h("i.hx-layer", { "data-layer": i }));
  const column = h("div.hx-trunk-cells", cells);
  const tags = h("div.hx-trunk-tags", [
    spread(trunk).map(({ member, y }) => {
      const { tag, hue } = look(member.index);
      return h("b.hx-trunk-tag", { text: tag, style: { "--hue": hue, "--y": `${(100 * y).toFixed(1)}%` } });
    }),
  ]);
  const own = trunk.members.map((member) => `${look(member.index).tag} ${shareText(member)}`).join("; ");
  const el = h("div.hx-trunk", { role: "img", tabindex: "0" }, [
    h("small.hx-trunk-name", TRUNK.layers(trunk.layers)),
    column,
    tags,
  ]);
  describe(TRUNK.label(trunk.layers, own));
  let drawn = "?";
  rest();

  function describe(/** @type {string} */ text) {
    if (el.dataset.tip === text) return;
    el.dataset.tip = text;
    el.setAttribute("aria-label", text);
  }

  function rest() {
    cells.forEach((cell, i) => {
      const owner = trunk.members.find((m) => m.lo <= i && i < m.depth);
      cell.style.setProperty("--hue", owner ? look(owner.index).hue : "");
      cell.dataset.level = owner ? String(owner.index) : "";
      cell.replaceChildren();
    });
    el.dataset.live = "";
  }

  return {
    el,
    /** Rows that were run in this round up to the cursor; at rest where the trace tells none. */
    update(/** @type {TraceModel|null} */ model, /** @type {number} */ cursor, /** @type {number|null} */ round) {
      const members = trunk.members.map((m) => m.index);
      const spans =
        model && round !== null
          ? model.rounds[model.roundAt(cursor)].segments.filter(
              (s) => s.ran?.length && s.t1 <= cursor && members.includes(s.level),
            )
          : [];
      const key = spans.length ? `${round} ${spans.length}` : "";
      if (key === drawn) return;
      drawn = key;
      // Between rounds nothing has run yet: what the stack is made of, not an empty column.
      if (!spans.length) return void (rest(), describe(TRUNK.label(trunk.layers, own)));
      const counts = rowsByLayer(spans, trunk.layers);
      const most = Math.max(1, ...cells.map((_, i) => total(counts, i)));
      el.dataset.live = "1";
      cells.forEach((cell, i) => {
        cell.style.setProperty("--most", String(most));
        cell.replaceChildren(
          ...[...counts]
            .filter(([, rows]) => rows[i])
            .map(([level, rows]) =>
              h("i.hx-ran", { "data-level": level, style: { "--hue": look(level).hue, "--rows": rows[i] } }),
            ),
        );
      });
      describe(
        TRUNK.rows(
          roundNumber(round ?? 0),
          [...counts].map(([level, rows]) => `${look(level).tag} ${runs(rows)}`).join("; "),
          own,
        ),
      );
    },
  };
}

/** @param {Map<number, number[]>} counts @param {number} i */
const total = (counts, i) => [...counts.values()].reduce((sum, rows) => sum + rows[i], 0);

/** Rows per layer as runs of equal counts: "4 on layers 8–29, 1 on 0–7". @param {number[]} rows */
function runs(rows) {
  /** @type {string[]} */ const found = [];
  for (let lo = 0; lo < rows.length; lo++) {
    let hi = lo + 1;
    while (hi < rows.length && rows[hi] === rows[lo]) hi += 1;
    if (rows[lo]) found.unshift(TRUNK.on(rows[lo], layersText(lo, hi)));
    lo = hi - 1;
  }
  return found.join(", ");
}

/** Where the members' tags stand, 0 at the bottom and 1 at the top, far enough apart to be read. */
function spread(/** @type {Trunk} */ { layers, members }) {
  const placed = [...members]
    .sort((a, b) => a.depth - b.depth || a.index - b.index)
    .map((member) => ({ member, y: member.depth / layers }));
  for (let i = 1; i < placed.length; i++) placed[i].y = Math.max(placed[i].y, placed[i - 1].y + GAP);
  for (let i = placed.length - 1; i >= 0; i--) placed[i].y = Math.min(placed[i].y, 1 - GAP * (placed.length - 1 - i));
  return placed;
}

// ---- Between two floors: the tokens that the level below hands up in this round, and what the level above did to them.

const MOST = 16;

/** @param {boolean} first whether it is the topmost, whose sign is explained @returns {{el: HTMLElement, update: (model: TraceModel|null, cursor: number, level: number, round: number|null,
 *   figures: Gauge|null) => void}} */
export function shaftOf(first) {
  const tiles = h("span.hx-tiles", { "aria-hidden": "true" });
  const fill = h("i", { style: { width: "0" } });
  const value = h("b", "\u2013");
  const gauge = h("span.hx-keeps", { tabindex: "0" }, [
    first ? term("accept", SHAFT.kept) : h("span", SHAFT.kept),
    h("span.hx-keeps-bar", { "aria-hidden": "true" }, fill),
    value,
  ]);
  const el = h("div.hx-shaft", [tiles, gauge]);
  return {
    el,
    update(model, cursor, level, round, figures) {
      draw(tiles, model ? seen(model, cursor, level, round) : []);
      const a = figures?.acceptance;
      const offered = Boolean(model?.trees.length);
      fill.style.width = `${100 * (a ?? 0)}%`;
      const of = (/** @type {string} */ text) =>
        !model || cursor < model.end
          ? text
          : stated(["acceptance", model.levels[level].tag], ofRun(model.header), text);
      say(value, a == null ? "\u2013" : of(ratio(a)));
      gauge.dataset.tip = a == null ? SHAFT.tip : SHAFT.is(figures?.accepted ?? 0, figures?.judged ?? 0, offered);
    },
  };
}

/** @typedef {{serial: number, hue: string, state: string, tree: Tree|null}} Tile */

/** Tokens of this round that stand before the verifier `level`, oldest first: [{hue, state}].
 *  @param {TraceModel} model @param {number} cursor @param {number} level @param {number|null} round */
function seen(model, cursor, level, round) {
  /** @type {Tile[]} */ const found = [];
  const running = round === null ? [] : model.levelsIn(round);
  if (round === null || !running.includes(level)) return found; // it rests: nothing stands before it
  for (const record of model.tokensOf(round)) {
    if (record.level >= level || record.tDraft > cursor) continue;
    const below = record.judgements.filter((j) => j.level < level);
    if (below.some((j) => j.outcome !== "accepted" || j.t > cursor)) continue;
    if (below.length < running.filter((i) => i > record.level && i < level).length) continue;
    const verdict = record.judgements.find((j) => j.level === level);
    const known = verdict && verdict.t <= cursor ? verdict.outcome : "waiting";
    found.push({ serial: record.serial, hue: model.levels[record.level].hue, state: known, tree: treeBefore(record) });
  }
  // Of candidates side by side the newest tree is shown, its likeliest branch first.
  const tree = level === running[1] ? found.at(-1)?.tree : null;
  return tree ? found.filter((tile) => tile.tree === tree).slice(0, MOST) : found.slice(-MOST);
}

/** @param {TokenRecord} record */
const treeBefore = (record) => (record.how === "draft" ? (record.fork?.tree ?? null) : null);

function draw(/** @type {HTMLElement} */ host, /** @type {Tile[]} */ tiles) {
  while (host.children.length > tiles.length) host.lastChild?.remove();
  while (host.children.length < tiles.length) host.append(h("i.hx-tile"));
  tiles.forEach((tile, i) => {
    const element = /** @type {HTMLElement} */ (host.children[i]);
    if (element.dataset.state !== tile.state) element.dataset.state = tile.state;
    if (element.dataset.serial !== String(tile.serial)) {
      element.dataset.serial = String(tile.serial);
      element.style.setProperty("--hue", tile.hue);
    }
  });
}
