/** The list below the tower: the preset's levels that can be added, and why the others cannot. */

import { h, icon, say } from "../kit/dom.js";
import { words } from "../words/play/forecast.js";
import { grammar, kindOf } from "../levels/kinds.js";
import { placed } from "../levels/stack.js";
import { ADD } from "../words/play/tower.js";

/**
 * @param {{levels: () => any[], onAdd: (level: object, index: number) => void, onOpen: () => void}} ctx levels: of the
 *   stack, cheapest first; onAdd: a level was chosen for this place; onOpen: the list is shown
 */
export function addMenu(ctx) {
  const el = h("div", { class: "hx-add" });
  /** @type {{known: any, gain: HTMLElement}[]} */ let choices = []; // those that can be added
  return {
    el,
    get open() {
      return el.querySelector("details")?.open ?? false;
    },
    /** The stack with each of the levels that can be added, in the order of the list. @param {any[]} levels */
    options(levels) {
      return choices.map(({ known }) => {
        const { level, index } = placed(levels, known);
        return levels.toSpliced(index, 0, level);
      });
    },
    /** What each of them would gain. @param {(import("./forecast/prices.js").Price|null)[]|null} prices @param {import("./forecast/prices.js").Price|null} [now] */
    foretell(prices, now = null) {
      choices.forEach(({ gain }, i) => {
        const price = prices?.[i] ?? null;
        say(gain, gainOf(price, now));
        gain.title = price && "reason" in price ? price.reason : "";
      });
    },
    /** Lists the levels of a preset of the catalogue. */
    show(preset) {
      const levels = (preset?.levels ?? []).filter((l) => grammar.kinds.get(l.name)?.stands !== "last");
      choices = [];
      const items = levels.map((known) => h("li", {}, choice(ctx, known, choices)));
      if (!levels.length) items.push(h("li", {}, h("p", { class: "hx-item-note", text: preset?.reason || ADD.none })));
      const details = h(
        "details",
        { class: "hx-add-list" },
        h("summary", {}, icon("add"), h("span", { text: ADD.title })),
        h("ul", {}, ...items),
      );
      details.open = el.querySelector("details")?.open ?? false;
      // In a tall tower the list opens below the edge: bring it into sight when a person opens it.
      details.firstElementChild.addEventListener("click", () => {
        requestAnimationFrame(() => details.open && details.lastElementChild.scrollIntoView({ block: "nearest" }));
      });
      details.addEventListener("toggle", () => details.open && ctx.onOpen());
      el.replaceChildren(details);
    },
  };
}

function choice(ctx, known, choices) {
  const reason = whyNot(known, ctx.levels());
  const gain = h("span", { class: "hx-item-gain" });
  if (!reason) choices.push({ known, gain });
  return h(
    "button",
    {
      class: "hx-item",
      type: "button",
      "aria-disabled": reason ? "true" : null,
      onclick: () => {
        const { level, index } = placed(ctx.levels(), known);
        if (!reason) ctx.onAdd(level, index);
      },
    },
    h("span", { class: "hx-item-title" }, known.label || known.name, " ", gain),
    h("span", {
      class: "hx-item-note",
      text: reason || ADD.atFirst(kindOf(known.kind ?? known.name).about, known.default_block ?? 4),
    }),
  );
}

/** @param {import("./forecast/prices.js").Price|null} price with it @param {import("./forecast/prices.js").Price|null} now without it */
function gainOf(price, now) {
  if (!price || !now || !("ms" in now)) return "";
  if (!("ms" in price)) return words.noGain;
  if (price.length !== now.length) return words.gainAt(price.speedup, price.length); // of another text than what stands there
  return words.gain(now.speedup, price.speedup);
}

function whyNot(known, levels) {
  if (!known.usable) return known.reason || ADD.unusable;
  if (levels.length >= grammar.most_levels) return ADD.most(grammar.most_levels);
  if (!known.can_draft) return ADD.cannotDraft;
  if (!known.can_verify && levels.length > 1 && levels[0].name === known.name) return ADD.isBottom;
  return "";
}
