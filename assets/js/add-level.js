/** The list below the tower: the preset's levels that can be added, and why the others cannot. */

import { h, icon } from "./dom.js";
import { grammar } from "./kinds.js";
import { placed } from "./stack.js";

/**
 * @param {{levels: () => any[], onAdd: (level: object, index: number) => void}} ctx levels: of the stack, cheapest
 *   first; onAdd: a level was chosen for this place
 */
export function addMenu(ctx) {
  const el = h("div", { class: "hx-add" });
  return {
    el,
    /** Lists the levels of a preset of the catalogue. */
    show(preset) {
      const levels = (preset?.levels ?? []).filter((l) => grammar.kinds.get(l.name)?.stands !== "last");
      const items = levels.map((known) => h("li", {}, choice(ctx, known)));
      if (!levels.length)
        items.push(
          h("li", {}, h("p", { class: "hx-item-note", text: preset?.reason || "this preset has no other level" })),
        );
      const details = h(
        "details",
        { class: "hx-add-list" },
        h("summary", {}, icon("add"), h("span", { text: "add a level" })),
        h("ul", {}, ...items),
      );
      details.open = el.querySelector("details")?.open ?? false;
      // In a tall tower the list opens below the edge: bring it into sight when a person opens it.
      details.firstElementChild.addEventListener("click", () => {
        requestAnimationFrame(() => details.open && details.lastElementChild.scrollIntoView({ block: "nearest" }));
      });
      el.replaceChildren(details);
    },
  };
}

function choice(ctx, known) {
  const reason = whyNot(known, ctx.levels());
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
    h("span", { class: "hx-item-title", text: known.label || known.name }),
    h("span", { class: "hx-item-note", text: reason || `${known.name}, T = ${known.default_block ?? 4}` }),
  );
}

function whyNot(known, levels) {
  if (!known.usable) return known.reason || "cannot be used here";
  if (levels.length >= grammar.most_levels) return `a stack has ${grammar.most_levels} levels at most`;
  if (!known.can_draft) return "cannot draft; it can only be the roof";
  if (!known.can_verify && levels.length > 1 && levels[0].name === known.name) return "is the bottom level already";
  return "";
}
