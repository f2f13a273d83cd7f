/** A tree as it is drawn: one row for each sequence, what begins alike once, the kept path marked. Its tokens open
 *  the token card like those of the text. */

import { treeText, fate } from "../../run/tree.js";
import { originOf } from "../../levels/kinds.js";
import { element } from "../../kit/dom.js";
import { TREE } from "../../../../text/en/text.js";

const LENGTH = 18;

/**
 * @param {import("../../run/records.js").Tree} tree
 * @param {import("../../run/trace.js").TraceModel} model
 * @param {number} cursor
 * @param {string} when words before what is said of it
 */
export function treeNode(tree, model, cursor, when = "") {
  const el = element("span", "hx-tree");
  const grid = element("span", "hx-tree-grid");
  const said = when + treeText(tree, model, cursor);
  grid.setAttribute("role", "group");
  grid.setAttribute("aria-label", TREE.label(said));
  const head = element("span", "hx-tree-head", said);
  head.setAttribute("aria-hidden", "true");
  head.append(element("span", "hx-tree-more"));
  const root = element("i", "hx-tree-root");
  root.style.gridArea = "1 / 1";
  grid.append(root);
  const column = (/** @type {number} */ i) => tree.depths[i] + 2;
  tree.nodes.forEach((record, i) => {
    const above = tree.parents[i];
    const from = above < 0 ? 0 : tree.rowOf[above];
    const to = tree.rowOf[i];
    if (to > from) {
      const stem = element("i", "hx-tree-stem");
      stem.style.gridColumn = String(column(i));
      stem.style.gridRow = `${from + 1} / ${to + 2}`;
      if (fate(record, cursor) === "kept") stem.dataset.kept = "1";
      grid.append(stem);
    }
    const node = candidate(record, model, cursor, above < 0 ? null : tree.nodes[above]);
    node.style.gridColumn = String(column(i));
    node.style.gridRow = String(to + 1);
    if (to === from) node.dataset.straight = "1";
    const next = tree.parents.findIndex((p, k) => p === i && tree.rowOf[k] === to);
    if (next >= 0) node.append(arm(fate(tree.nodes[next], cursor)));
    grid.append(node);
  });
  el.append(head, grid);
  return el;
}

/** From a token to the one that goes on in its row. */
function arm(what) {
  const line = element("i", "hx-tree-arm");
  line.dataset.fate = what;
  return line;
}

function candidate(record, model, cursor, above) {
  const level = model.levels[record.level];
  const origin = originOf(level.kind, record.source);
  const what = fate(record, cursor);
  const node = element("span", "hx-tree-cell");
  node.dataset.fate = what;
  const full = model.pieceText(record.id).replace(/^\u00b7(?=.)/, "");
  const text = full.length > LENGTH ? `${full.slice(0, LENGTH - 1)}\u2026` : full || "\u2205";
  const token = element(what === "rejected" || what === "lost" ? "s" : "span", "hx-tree-token", text);
  token.dataset.serial = String(record.serial);
  token.tabIndex = -1;
  token.style.setProperty("--hue", origin?.hue ?? level.hue);
  token.dataset.line = level.underline;
  if (record.source !== above?.source) token.dataset.source = origin ? record.source : "";
  if (what === "rejected") {
    const by = model.levels[record.goneBy ?? -1];
    token.dataset.by = by?.tag ?? "";
    if (by) token.style.setProperty("--by", by.hue);
  }
  node.append(token);
  return node;
}
