/** A tree as it is drawn: one row for each sequence, what begins alike once, the kept path marked. Its tokens open
 *  the token card like those of the text. */

import { element } from "../../kit/dom.js";
import { originOf } from "../../levels/kinds.js";
import { fate, treeText } from "../../run/tree.js";
import { TEXT, TREE } from "../../../../text/en/text.js";

const LENGTH = 18;

/** @typedef {import("../../run/records.js").TokenRecord} TokenRecord */

/** @param {import("../../run/records.js").Tree} tree @param {import("../../run/trace.js").TraceModel} model
 *  @param {number} cursor
 *  @param {string} when words before what is said of it */
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

/** From a token to the one that goes on in its row. @param {string} what */
function arm(what) {
  const line = element("i", "hx-tree-arm");
  line.dataset.fate = what;
  return line;
}

/** @param {TokenRecord} record @param {import("../../run/trace.js").TraceModel} model @param {number} cursor
 *  @param {TokenRecord|null} above */
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

// ---- Below the text: the candidates of the round under the cursor, as a tree. As high as trees may become, so that the text
// stays where it is, but never more than the smaller part of the panel: a higher tree scrolls, shows the path that was
// kept, and says how many rows are out of sight.

const MARGIN = 2; // of a token in its row, in pixels

export class TreeDock {
  /** @param {HTMLElement} host */
  constructor(host) {
    this.el = host.appendChild(element("div", "hx-tree-dock"));
    this.el.hidden = true;
    this.el.setAttribute("role", "group");
    this.el.setAttribute("aria-label", TREE.dock);
    this.drawn = false; // whether the tree was redrawn since it was last measured
    this.el.addEventListener("scroll", () => this._count(), { passive: true });
    new ResizeObserver(() => this._count()).observe(this.el);
  }

  /** @param {import("../../run/trace.js").TraceModel|null} model @param {number} cursor @param {{current: HTMLElement|null, reach: (node: HTMLElement|null) => void, renew: () => void}} reach */
  update(model, cursor, reach) {
    const { el } = this;
    const tree = model?.treeAt(cursor) ?? null;
    const rows = model?.mostRows() ?? 0;
    if (el.hidden !== (rows === 0)) el.hidden = rows === 0;
    if (!model || rows === 0) return void (el.firstChild && el.replaceChildren());
    el.style.setProperty("--rows", String(rows));
    const past = tree !== null && model.rounds[model.roundAt(cursor - 1)]?.round !== tree.round;
    const key = tree ? `${tree.nodes[0].serial} ${tree.judged !== null && tree.judged.t <= cursor} ${past}` : "";
    if (key === el.dataset.key && el.childNodes.length === (tree ? 1 : 0)) return;
    const { current } = reach;
    const held = current && el.contains(current) ? current.dataset.serial : null;
    const focused = el !== document.activeElement && el.contains(document.activeElement);
    el.dataset.key = key;
    el.classList.toggle("hx-past", past);
    el.replaceChildren(...(tree ? [treeNode(tree, model, cursor, past ? TEXT.noneNow : "")] : []));
    this.drawn = true;
    if (held !== null) reach.reach(el.querySelector(`[data-serial="${held}"]`));
    reach.renew();
    if (focused) reach.current?.focus();
  }

  /** Brings the end of the kept path into sight. Called when all else is drawn: it asks how high the tree is. */
  settle() {
    if (!this.drawn) return;
    this.drawn = false;
    const { el } = this;
    if (!el.contains(document.activeElement)) {
      const path = el.querySelectorAll(".hx-tree-cell[data-fate='kept']");
      const last = path[path.length - 1]?.getBoundingClientRect().bottom ?? 0;
      el.scrollTop = Math.max(0, last - el.getBoundingClientRect().top + el.scrollTop - el.clientHeight);
    }
    this._count();
  }

  /** Says how many rows lie below what is in sight, and how many above. */
  _count() {
    const { el } = this;
    const grid = el.querySelector(".hx-tree-grid");
    const more = el.querySelector(".hx-tree-more");
    if (!grid || !more) return;
    const row = grid.clientHeight / getComputedStyle(grid).gridTemplateRows.split(" ").length;
    // A row that is cut is out of sight too; a margin is not.
    const rows = (/** @type {number} */ hidden) => Math.max(0, Math.ceil((hidden - MARGIN) / row));
    const said = TREE.more(rows(el.scrollHeight - el.clientHeight - el.scrollTop), rows(el.scrollTop));
    if (more.textContent !== said) more.textContent = said;
    // What scrolls can be reached by Tab, and is then scrolled by the arrow keys.
    if (el.scrollHeight > el.clientHeight || el.scrollWidth > el.clientWidth) el.tabIndex = 0;
    else if (el !== document.activeElement) el.removeAttribute("tabindex");
  }
}
