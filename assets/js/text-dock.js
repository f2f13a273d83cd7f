/** Below the text: the candidates of the round under the cursor, as a comb. As high as combs may become, so that the text
 *  stays where it is. */

import { combNode } from "./comb-view.js";
import { element } from "./token.js";
import { TEXT } from "./words/text.js";

export class CombDock {
  /** @param {HTMLElement} host */
  constructor(host) {
    this.el = host.appendChild(element("div", "hx-comb-dock"));
    this.el.hidden = true;
  }

  /** @param {import("./trace.js").TraceModel|null} model @param {number} cursor @param {import("./text-reach.js").TextReach} reach */
  update(model, cursor, reach) {
    const { el } = this;
    const comb = model?.combAt(cursor) ?? null;
    const rows = model?.mostRows() ?? 0;
    if (el.hidden !== (rows === 0)) el.hidden = rows === 0;
    if (!model || rows === 0) return void (el.firstChild && el.replaceChildren());
    el.style.setProperty("--rows", String(rows));
    const past = comb !== null && model.rounds[model.roundAt(cursor - 1)]?.round !== comb.round;
    const key = comb ? `${comb.nodes[0].serial} ${comb.judged !== null && comb.judged.t <= cursor} ${past}` : "";
    if (key === el.dataset.key && el.childNodes.length === (comb ? 1 : 0)) return;
    const { current } = reach;
    const held = current && el.contains(current) ? current.dataset.serial : null;
    const focused = el.contains(document.activeElement);
    el.dataset.key = key;
    el.classList.toggle("hx-past", past);
    el.replaceChildren(...(comb ? [combNode(comb, model, cursor, past ? TEXT.noneNow : "")] : []));
    if (held !== null) reach.reach(el.querySelector(`[data-serial="${held}"]`));
    reach.renew();
    if (focused) reach.current?.focus();
  }
}
