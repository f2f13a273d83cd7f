/** The list below the tower: the preset's levels that the planner prices here, and under "More" the others, with the reason
 *  beside each that cannot be added. */

import { h, icon, say } from "../../../shared/kit/dom.js";
import { words } from "../../../../text/en/forecast.js";
import { grammar, kindOf } from "../../../shared/levels/kinds.js";
import { levelName } from "../../../shared/levels/stack-names.js";
import { placed } from "../../../shared/levels/stack.js";
import { ADD } from "../../../../text/en/tower.js";

/** @import {Entry, Level, Preset} from "../../../shared/levels/stack.js"
 *  @import {Price} from "./forecast/forecast.js" */

/** @typedef {{known: Entry, gain: HTMLElement, item: HTMLElement}} Choice
 *  @typedef {{levels: () => Level[], onAdd: (level: Level, index: number) => void, onOpen: () => void}} Context levels: of the
 *    stack, cheapest first; onAdd: a level was chosen for this place; onOpen: the list is shown */

/** @param {Context} ctx */
export function addMenu(ctx) {
  const el = h("div.hx-add");
  /** @type {Choice[]} */ let choices = []; // those that can be added
  /** @type {HTMLElement[]} */ let items = []; // the whole list
  /** @type {Set<string>} */ const priced = new Set(); // titles of levels that had a prediction
  let of = ""; // the preset whose levels they are
  const first = h("ul");
  const others = h("ul");
  const more = h("details.hx-add-more", [h("summary", ADD.more), others]);
  const details = h("details.hx-add-list", { ontoggle: () => details.open && ctx.onOpen() }, [
    h("summary", [icon("add"), h("span", ADD.title)]),
    first,
    more,
  ]);
  // In a tall tower the list opens below the edge: bring it into sight when a person opens it.
  details.firstElementChild?.addEventListener("click", () => {
    requestAnimationFrame(() => details.open && first.scrollIntoView({ block: "nearest" }));
  });
  el.append(details);

  /** Where no level has a prediction, the list is one. */
  function sort() {
    const offered = choices.filter(({ known }) => priced.has(title(known))).map(({ item }) => item);
    const [top, rest] = offered.length ? [offered, items.filter((item) => !offered.includes(item))] : [items, []];
    if (same(first, top) && same(others, rest)) return;
    first.replaceChildren(...top);
    others.replaceChildren(...rest);
    more.hidden = !rest.length;
  }

  return {
    el,
    get open() {
      return details.open;
    },
    /** The stack with each of the levels that can be added, in the order of the list. @param {Level[]} levels */
    options(levels) {
      return choices.map(({ known }) => {
        const { level, index } = placed(levels, known);
        return levels.toSpliced(index, 0, level);
      });
    },
    /** What each of them would gain. @param {(Price|null)[]|null} prices @param {Price|null} [now] */
    foretell(prices, now = null) {
      choices.forEach(({ known, gain }, i) => {
        const price = prices?.[i] ?? null;
        say(gain, gainOf(price, now));
        gain.title = price && "reason" in price ? price.reason : "";
        if (price && "ms" in price) priced.add(title(known));
      });
      if (!others.contains(document.activeElement) && !first.contains(document.activeElement)) sort();
    },
    /** Lists the levels of a preset of the catalogue. @param {Preset|null} preset */
    show(preset) {
      if (of !== preset?.name) priced.clear();
      of = preset?.name ?? "";
      const levels = (preset?.levels ?? []).filter((l) => grammar.kinds.get(l.name)?.stands !== "last");
      choices = [];
      items = levels.map((known) => choice(ctx, known, choices));
      if (!levels.length) items.push(h("li", h("p.hx-item-note", preset?.reason || ADD.none)));
      sort();
    },
  };
}

/** What the level of an entry of the catalogue is called. @param {Entry} known */
function title({ name, label, params = {} }) {
  if (!grammar.kinds.has(name)) return label || name;
  const options = Object.fromEntries(Object.entries(params).map(([key, value]) => [key, String(value)]));
  return levelName({ name, block: null, options });
}

/** Whether a list has these items. @param {Element} list @param {Element[]} items */
const same = (list, items) =>
  list.childElementCount === items.length && items.every((one, i) => one === list.children[i]);

function choice(/** @type {Context} */ ctx, /** @type {Entry} */ known, /** @type {Choice[]} */ choices) {
  const reason = whyNot(known, ctx.levels());
  const gain = h("span.hx-item-gain");
  const button = h(
    "button.hx-item",
    {
      "aria-disabled": reason ? "true" : null,
      onclick: () => {
        const { level, index } = placed(ctx.levels(), known);
        if (!reason) ctx.onAdd(level, index);
      },
    },
    [
      h("span.hx-item-title", [title(known), " ", gain]),
      h("span.hx-item-note", reason || ADD.atFirst(kindOf(known.kind ?? known.name).about, known.default_block ?? 4)),
    ],
  );
  const item = h("li", button);
  if (!reason) choices.push({ known, gain, item });
  return item;
}

/** @param {Price|null} price with it @param {Price|null} now without it */
function gainOf(price, now) {
  if (!price || !now || !("ms" in now)) return "";
  if (!("ms" in price)) return words.noGain;
  if (price.length !== now.length) return words.gainAt(price.speedup, price.length); // of another text than what stands there
  return words.gain(now.speedup, price.speedup);
}

function whyNot(/** @type {Entry} */ known, /** @type {Level[]} */ levels) {
  if (!known.usable) return known.reason || ADD.unusable;
  if (levels.length >= grammar.most_levels) return ADD.most(grammar.most_levels);
  if (!known.can_draft) return ADD.cannotDraft;
  if (!known.can_verify && levels.length > 1 && levels[0].name === known.name) return ADD.isBottom;
  return "";
}
