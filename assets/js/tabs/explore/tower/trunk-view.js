/** The layers of a shared model as one column of thin cells, the first layer at the bottom. At rest a cell has the
 *  colour of the level that runs it first; in a run its bars are the rows that each level ran on it in this round. */

import { h } from "../../../shared/kit/dom.js";
import { rowsByLayer } from "../../../shared/run/ran.js";
import { roundNumber } from "../../../shared/kit/round-number.js";
import { layersText, shareText } from "../../../shared/levels/trunk.js";
import { TRUNK } from "../../../../text/en/tower.js";

const GAP = 0.07; // of the column's height: what a tag needs

/**
 * @param {import("../../../shared/levels/trunk.js").Trunk} trunk
 * @param {(index: number) => {tag: string, hue: string}} look of a level of the stack
 */
export function trunkView(trunk, look) {
  const cells = Array.from({ length: trunk.layers }, (_, i) => h("i", { class: "hx-layer", "data-layer": i }));
  const column = h("div", { class: "hx-trunk-cells" }, ...cells);
  const tags = h(
    "div",
    { class: "hx-trunk-tags" },
    ...spread(trunk).map(({ member, y }) => {
      const { tag, hue } = look(member.index);
      return h("b", { class: "hx-trunk-tag", text: tag, style: { "--hue": hue, "--y": `${(100 * y).toFixed(1)}%` } });
    }),
  );
  const own = trunk.members.map((member) => `${look(member.index).tag} ${shareText(member)}`).join("; ");
  const el = h(
    "div",
    { class: "hx-trunk", role: "img", tabindex: "0" },
    h("small", { class: "hx-trunk-name", text: TRUNK.layers(trunk.layers) }),
    column,
    tags,
  );
  describe(TRUNK.label(trunk.layers, own));
  let drawn = "?";
  rest();

  function describe(text) {
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
    update(model, cursor, round) {
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
              h("i", {
                class: "hx-ran",
                "data-level": level,
                style: { "--hue": look(level).hue, "--rows": rows[i] },
              }),
            ),
        );
      });
      describe(
        TRUNK.rows(
          roundNumber(round),
          [...counts].map(([level, rows]) => `${look(level).tag} ${runs(rows)}`).join("; "),
          own,
        ),
      );
    },
  };
}

const total = (counts, i) => [...counts.values()].reduce((sum, rows) => sum + rows[i], 0);

/** Rows per layer as runs of equal counts: "4 on layers 8–29, 1 on 0–7". */
function runs(rows) {
  const found = [];
  for (let lo = 0; lo < rows.length; lo++) {
    let hi = lo + 1;
    while (hi < rows.length && rows[hi] === rows[lo]) hi += 1;
    if (rows[lo]) found.unshift(TRUNK.on(rows[lo], layersText(lo, hi)));
    lo = hi - 1;
  }
  return found.join(", ");
}

/** Where the members' tags stand, 0 at the bottom and 1 at the top, far enough apart to be read. */
function spread({ layers, members }) {
  const placed = [...members]
    .sort((a, b) => a.depth - b.depth || a.index - b.index)
    .map((member) => ({ member, y: member.depth / layers }));
  for (let i = 1; i < placed.length; i++) placed[i].y = Math.max(placed[i].y, placed[i - 1].y + GAP);
  for (let i = placed.length - 1; i >= 0; i--) placed[i].y = Math.min(placed[i].y, 1 - GAP * (placed.length - 1 - i));
  return placed;
}
