/** Two recorded runs side by side under one scrubber: token by token, or by time. */

import { h } from "../../shared/kit/dom.js";
import { recordsOf } from "../../shared/visit/session.js";
import { setQuery } from "../../shared/kit/tabs.js";
import { stackNames } from "../../shared/levels/stack-names.js";
import { compareSays, differences, likeness } from "./compare-says.js";
import { LaneModel } from "./replay/lane-model.js";
import { COMPARE } from "./words/race.js";

/** @typedef {import("./replay/field.js").Align} Align */

/** @typedef {{name: string, asked: string, reason?: string}} Named asked: the same where the prompt is */

/**
 * Two names out of `A,B`, or out of `A` and the first that answers its prompt; null where no two are there.
 * @param {string|null} text @param {Named[]} menu
 * @returns {[string, string]|null}
 */
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

/**
 * @param {{menu: any[], replay: ReturnType<typeof import("./replay/replay.js").createReplay>,
 *   attempt: (action: () => Promise<void>) => Promise<void>}} ctx
 */
export function createCompare({ menu, replay, attempt }) {
  const usable = menu.filter((one) => !one.reason);
  const names = stackNames(usable.map((one) => one.stack));
  /** @type {Map<string, Promise<LaneModel>>} */
  const kept = new Map();
  /** @type {LaneModel[]} */ let shown = [];
  /** @type {string[]} */ let named = []; // what is shown, by name
  let turn = 0;
  const pick = (/** @type {string} */ label) =>
    h(
      "select",
      { class: "hx-select hx-race-run", "aria-label": label, onchange: () => attempt(() => show()) },
      ...usable.map((one) => h("option", { value: one.name, text: `${one.title}: ${names.get(one.stack)}` })),
    );
  const runs = COMPARE.letters.map((letter) => pick(COMPARE.run(letter)));
  const align = h(
    "select",
    { class: "hx-select hx-race-align", "aria-label": COMPARE.align, onchange: () => draw(true) },
    h("option", { value: "token", text: COMPARE.byToken }),
    h("option", { value: "time", text: COMPARE.byTime }),
  );
  const note = h("span", { class: "hx-race-about" });
  const el = h(
    "div",
    { class: "hx-race-pair", hidden: true },
    h("h2", { class: "hx-sr", text: COMPARE.open }),
    ...runs.map((run, i) => h("label", { class: "hx-race-side" }, h("b", { text: COMPARE.letters[i] }), run)),
    align,
    note,
  );

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
