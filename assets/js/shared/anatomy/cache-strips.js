/** A row of cells for each level: what it sees of the keys and values. Where all see all of them nothing is shown. */

import { h } from "../kit/dom.js";
import { badge } from "../text/card/card.js";
import { heldBy } from "./held.js";
import { HELD } from "../../../text/en/anatomy.js";

const NAMED = ["sink", "chosen", "recent", "since"]; // in the legend

export function cacheStrips() {
  const el = h("div", { class: "hx-an-held", role: "group", "aria-label": HELD.title, hidden: true });
  let drawn = "";
  return {
    el,
    /** @param {import("../run/trace.js").TraceModel} model @param {number} at a settled moment */
    show(model, at) {
      const rows = heldBy(model, at);
      const key = JSON.stringify(rows);
      if (key === drawn) return;
      drawn = key;
      el.hidden = !rows.length;
      const kinds = NAMED.filter((kind) => rows.some((row) => row.parts.some((part) => part.kind === kind)));
      const partial = rows.find((row) => row.parts.some((part) => part.kind !== "whole"));
      const hue = partial ? model.levels[partial.level].hue : null;
      const legend = kinds.map((kind) =>
        h("span", {}, h("i", { "data-kind": kind, "aria-hidden": "true", style: { "--hue": hue } }), HELD.kinds[kind]),
      );
      el.replaceChildren(
        ...(rows.length ? [h("p", { class: "hx-an-held-legend" }, h("span", { text: HELD.title }), ...legend)] : []),
        ...[...rows].reverse().flatMap((row) => line(model, row)),
      );
    },
  };
}

/** @param {import("../run/trace.js").TraceModel} model @param {import("./held.js").Held} row */
function line(model, row) {
  const look = model.levels[row.level];
  const said = HELD.sees(look.name, row);
  const cells = row.cells.map((cell) => {
    const node = h("i", { style: { "--share": cell.kind === "none" ? "0" : String(Math.max(0.25, cell.share)) } });
    if (cell.kind !== "none") node.dataset.kind = cell.kind;
    return node;
  });
  return [
    h("span", { class: "hx-an-name", title: look.name }, badge(look), h("span", { text: look.name })),
    h(
      "span",
      {
        class: "hx-an-cells",
        role: "img",
        tabindex: "0",
        "aria-label": said,
        "data-tip": said,
        style: { "--hue": look.hue },
      },
      ...cells,
    ),
    h("span", { class: "hx-an-held-count", "aria-hidden": "true", text: HELD.short(row.sees, row.total) }),
  ];
}
