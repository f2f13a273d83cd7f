/** Between two floors: the tokens that the level below hands up in this round, and what the level above did to them. */

import { term } from "../../../shared/glossary/term.js";
import { h, say } from "../../../shared/kit/dom.js";
import { ofRun, stated } from "../../../shared/levels/stated.js";
import { ratio } from "../../../../text/numbers.js";
import { SHAFT } from "../../../../text/en/tower.js";

const MOST = 16;

/** @param {boolean} first whether it is the topmost, whose sign is explained @returns {{el: HTMLElement, update: Function}} */
export function shaftOf(first) {
  const tiles = h("span", { class: "hx-tiles", "aria-hidden": "true" });
  const fill = h("i", { style: { width: "0" } });
  const value = h("b", { text: "\u2013" });
  const gauge = h(
    "span",
    { class: "hx-keeps", tabindex: "0" },
    first ? term("accept", SHAFT.kept) : h("span", { text: SHAFT.kept }),
    h("span", { class: "hx-keeps-bar", "aria-hidden": "true" }, fill),
    value,
  );
  const el = h("div", { class: "hx-shaft" }, tiles, gauge);
  return {
    el,
    update(model, cursor, level, round, figures) {
      draw(tiles, model ? seen(model, cursor, level, round) : []);
      const a = figures?.acceptance;
      const offered = Boolean(model?.trees.length);
      fill.style.width = `${100 * (a ?? 0)}%`;
      const of = (/** @type {string} */ text) =>
        cursor < model.end ? text : stated(["acceptance", model.levels[level].tag], ofRun(model.header), text);
      say(value, a == null ? "\u2013" : of(ratio(a)));
      gauge.dataset.tip = a == null ? SHAFT.tip : SHAFT.is(figures.accepted, figures.judged, offered);
    },
  };
}

/** Tokens of this round that stand before the verifier `level`, oldest first: [{hue, state}]. */
function seen(model, cursor, level, round) {
  const found = [];
  const running = round === null ? [] : model.levelsIn(round);
  if (!running.includes(level)) return found; // it rests: nothing stands before it
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

const treeBefore = (record) => (record.how === "draft" ? (record.fork?.tree ?? null) : null);

function draw(host, tiles) {
  while (host.children.length > tiles.length) host.lastChild.remove();
  while (host.children.length < tiles.length) host.append(h("i", { class: "hx-tile" }));
  tiles.forEach((tile, i) => {
    const element = host.children[i];
    if (element.dataset.state !== tile.state) element.dataset.state = tile.state;
    if (element.dataset.serial !== String(tile.serial)) {
      element.dataset.serial = tile.serial;
      element.style.setProperty("--hue", tile.hue);
    }
  });
}
