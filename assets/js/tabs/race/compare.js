/** Two recorded runs side by side under one scrubber, token by token or by time, and what is said of them. */

import { h } from "../../shared/kit/dom.js";
import { recordsOf } from "../../shared/visit/session.js";
import { setQuery } from "../../shared/kit/tabs.js";
import { stackNames } from "../../shared/levels/stack-names.js";
import { LaneModel } from "./replay/lanes.js";
import { COMPARE, SAID, WORDS } from "../../../text/en/race.js";
import { clockOf } from "../../shared/levels/overlap.js";
import { ofRun, stated } from "../../shared/levels/stated.js";
import { plainSpeed } from "../../shared/run/figures.js";
import { promptText } from "../../shared/run/copies.js";

/** @import {Says} from "./replay/lane.js" */

/** @typedef {{name: string, asked: string, reason?: string}} Named asked: the same where the prompt is */

/** Two names out of `A,B`, or out of `A` and the first that answers its prompt; null where no two are there.
 *  @param {string|null} text @param {Named[]} menu @returns {[string, string]|null} */
export function pairOf(text, menu) {
  const [a, b, ...more] = (text ?? "").split(",");
  const find = (/** @type {string|undefined} */ name) => menu.find((one) => one.name === name && !one.reason);
  const [one, other] = [find(a), b === undefined ? partner(find(a), menu) : find(b)];
  return one && other && !more.length ? [one.name, other.name] : null;
}

/** The first two that answer one prompt; where there are none, the first two. @param {Named[]} menu */
export function firstPair(menu) {
  const usable = menu.filter((one) => !one.reason);
  const first = usable.find((one) => partner(one, usable)) ?? usable[0];
  return /** @type {[string, string]} */ ([first?.name, (partner(first, usable) ?? usable[1])?.name]);
}

/** The first other one that answers its prompt. @param {Named|undefined} one @param {Named[]} menu */
const partner = (one, menu) => one && menu.find((other) => other !== one && !other.reason && other.asked === one.asked);

/** @param {{menu: any[], replay: ReturnType<typeof import("./replay/replay.js").createReplay>,
 *    attempt: (action: () => Promise<void>) => Promise<void>}} ctx */
export function createCompare({ menu, replay, attempt }) {
  const usable = menu.filter((one) => !one.reason);
  const names = stackNames(usable.map((one) => one.stack));
  /** @type {Map<string, Promise<LaneModel>>} */
  const kept = new Map();
  /** @type {LaneModel[]} */ let shown = [];
  /** @type {string[]} */ let named = []; // what is shown, by name
  let turn = 0;
  const pick = (/** @type {string} */ label) =>
    h("select.hx-select.hx-race-run", { "aria-label": label, onchange: () => attempt(() => show()) }, [
      usable.map((one) => h("option", { value: one.name, text: `${one.title}: ${names.get(one.stack)}` })),
    ]);
  const runs = COMPARE.letters.map((letter) => pick(COMPARE.run(letter)));
  const align = h("select.hx-select.hx-race-align", { "aria-label": COMPARE.align, onchange: () => draw(true) }, [
    h("option", { value: "token", text: COMPARE.byToken }),
    h("option", { value: "time", text: COMPARE.byTime }),
  ]);
  const note = h("span.hx-race-about");
  const el = h("div.hx-race-pair", { hidden: true }, [
    h("h2.hx-sr", COMPARE.open),
    runs.map((run, i) => h("label.hx-race-side", [h("b", COMPARE.letters[i]), run])),
    align,
    note,
  ]);

  /** @param {string} name */
  function load(name) {
    const found =
      kept.get(name) ??
      recordsOf(name).then(({ ev, status }) => {
        if (!ev.length) throw new Error(status.text);
        return new LaneModel(ev);
      });
    kept.set(name, found);
    found.catch(() => kept.delete(name));
    return found;
  }

  async function show() {
    const mine = ++turn;
    const names = runs.map((run) => run.value);
    const found = await Promise.all(names.map(load)).catch((error) => {
      if (mine === turn) named.forEach((name, i) => (runs[i].value = name)); // the menus name what is shown
      throw error;
    });
    if (mine !== turn || el.hidden) return;
    shown = found;
    named = names;
    setQuery({ compare: names.join(","), race: null });
    draw(false);
  }

  /** @param {boolean} still */
  function draw(still) {
    if (shown.length < 2) return;
    note.textContent = likeness(shown[0], shown[1]).samePrompt ? "" : COMPARE.otherPrompts;
    replay.show(shown, {
      says: shown.map((_, i) => compareSays(shown, i)),
      align: align.value === "time" ? "time" : "token",
      between: differences(shown),
      still,
    });
    if (still) replay.player.seek(replay.player.end);
  }

  return {
    el,
    /** @param {[string, string]} pair */
    open(pair) {
      el.hidden = false;
      named = [];
      runs.forEach((run, i) => (run.value = pair[i]));
      return show();
    },
    close() {
      el.hidden = true;
      turn += 1;
      setQuery({ compare: null });
    },
  };
}

// What is said of two runs that are compared: how far their texts and the levels of their tokens agree.

/** @param {LaneModel} a @param {LaneModel} b
 *  @returns {{equal: number, most: number, least: number, samePrompt: boolean, levels: boolean[]}} equal: leading tokens
 *    that are the same; levels: for each place that both texts have, whether levels of one kind supplied it */
function likeness(a, b) {
  const least = Math.min(a.tokens, b.tokens);
  let equal = 0;
  while (equal < least && a.tokenAt(equal)?.id === b.tokenAt(equal)?.id) equal += 1;
  const kind = (/** @type {LaneModel} */ lane, /** @type {number} */ at) => {
    const level = lane.model.levels[lane.tokenAt(at)?.level ?? 0];
    return `${level?.letter} ${level?.kind}`;
  };
  const levels = Array.from({ length: least }, (_, at) => kind(a, at) === kind(b, at));
  const samePrompt = promptText(a.model).text === promptText(b.model).text;
  return { equal, most: Math.max(a.tokens, b.tokens), least, samePrompt, levels };
}

/** @param {LaneModel[]} lanes @param {number} index @returns {Says} */
function compareSays(lanes, index) {
  const lane = lanes[index];
  const { model } = lane;
  const plain = plainSpeed(model.baseline);
  const own = lane.finish ? lane.tokens / (lane.finish / 1e9) : null;
  const letter = COMPARE.letters[index];
  const gain = plain && own ? own / plain : null;
  return {
    mark: () => ({ text: letter, place: letter }),
    result: gain
      ? [
          h("b.hx-race-gain", stated("speed_up", ofRun(lane.model.header), SAID.gain(gain))),
          h("span.hx-race-range", COMPARE.overPlain(clockOf(model.header))),
        ]
      : [h("span.hx-race-range", model.levels.length === 1 ? WORDS.plain : COMPARE.noPlain)],
    tip: COMPARE.gainTip,
    late: false,
    ahead: () => model.header?.recorded?.slice(0, 10) ?? "",
    verdict: { text: COMPARE.text(likeness(lanes[0], lanes[1]), index), kind: "" },
  };
}

/** The row below both: where their tokens came from levels of different kinds. @param {LaneModel[]} lanes */
export function differences(lanes) {
  const found = likeness(lanes[0], lanes[1]);
  const { levels, most, least } = found;
  const paint = levels.map((same, at) => {
    const hue = same ? "transparent" : "var(--ink)";
    return `${hue} ${((100 * at) / least).toFixed(3)}% ${((100 * (at + 1)) / least).toFixed(3)}%`;
  });
  const strip = h("i.hx-race-paint", {
    style: { background: `linear-gradient(to right, ${paint.join(", ") || "transparent, transparent"})` },
  });
  const different = levels.filter((same) => !same).length;
  return h("li.hx-race-row.hx-race-differ", [
    h("span"),
    h("div.hx-race-who", h("h3.hx-race-name", COMPARE.differ)),
    h("div.hx-race-way", [
      h("div.hx-race-track", { "aria-hidden": "true", style: { "--length": String(least / most) } }, [
        h("div.hx-race-course", strip),
      ]),
      h("span.hx-race-count", `${different}\u2009/\u2009${least}`),
    ]),
    h("p.hx-race-differ-words", COMPARE.differWords(different, least)),
  ]);
}
