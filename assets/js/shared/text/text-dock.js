/** Below the text: the candidates of the round under the cursor, as a tree. As high as trees may become, so that the text
 *  stays where it is, but never more than the smaller part of the panel: a higher tree scrolls, shows the path that was
 *  kept, and says how many rows are out of sight. */

import { treeNode } from "./token/tree-view.js";
import { element } from "../kit/dom.js";
import { TREE, TEXT } from "../../../text/en/text.js";

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

  /** @param {import("../run/trace.js").TraceModel|null} model @param {number} cursor @param {import("./text-reach.js").TextReach} reach */
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
