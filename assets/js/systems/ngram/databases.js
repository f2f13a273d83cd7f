/** The databases of Hierarchy Drafting, as they are asked: who supplied how much of the text, the last lookups, and what
 *  the context's own database holds, the entry that was found lit with its place in the text. It follows the cursor. A
 *  database more is a row more in the first table; a window of lookahead would be a part beside the others. */

import { h, say, signButton } from "../../shared/kit/dom.js";
import { roundNumber } from "../../shared/kit/round-number.js";
import { Ledger } from "./ledger.js";
import { createLink } from "./pointer-line.js";
import { entriesPart } from "./entries.js";
import { lookupsPart } from "./lookups.js";
import { nothing } from "./pieces.js";
import { sharesPart } from "./shares.js";
import { windowPart } from "./window.js";
import { DB } from "./words.js";

/**
 * @param {{player: import("../../shared/player/player.js").Player, stage: HTMLElement, onClose: () => void, onChange: () => void}} ctx
 */
export function createDatabases({ player, stage, onClose }) {
  const title = h("h2", { tabindex: "-1", text: DB.title });
  const where = h("span", { class: "hx-an-muted hx-an-facts" });
  const shares = sharesPart();
  const lookups = lookupsPart({ onSeek: (ns) => player.seek(ns) });
  const link = createLink(stage);
  const entries = entriesPart({
    onShow: () => link.target()?.scrollIntoView({ block: "center", behavior: "instant" }),
  });
  const ahead = windowPart();
  const side = h("div", { class: "hx-db-side" }, ahead.el, entries.el);
  const body = h("div", { class: "hx-db-body" }, shares.el, lookups.el, side);
  const empty = h("div", { hidden: true });
  const el = h(
    "section",
    { class: "hx-desk hx-databases", "aria-label": DB.title, hidden: true },
    h(
      "header",
      { class: "hx-panel-head hx-desk-head" },
      title,
      where,
      h("span", { class: "hx-an-keys hx-an-muted", text: DB.keys }),
      signButton(DB.back, "\u2190", () => player.stepEvent(-1)),
      signButton(DB.on, "\u2192", () => player.stepEvent(1)),
      h("button", {
        type: "button",
        class: "hx-icon-button hx-desk-close",
        "aria-label": DB.close,
        "data-tip": DB.close,
        text: "\u00d7",
        onclick: () => onClose(),
      }),
    ),
    body,
    empty,
  );
  /** @type {Ledger|null} */ let ledger = null;
  /** @type {import("./ledger.js").Lookup|null} */ let lit = null;

  /** Of the last draft the first lookup that the context answered, else one of the window, else the last one. */
  function litAt(/** @type {Ledger} */ own, /** @type {number} */ cursor) {
    const last = own.seen(cursor) - 1;
    let found = own.lookups[last] ?? null;
    for (let i = last; i >= 0 && own.lookups[i].t === own.lookups[last].t; i--)
      if (own.lookups[i].letter === "c" || (own.lookups[i].letter === "w" && found?.letter !== "c"))
        found = own.lookups[i];
    return found;
  }

  return {
    el,
    title,
    /** @returns {number|null} the token that the other views should mark */
    get selected() {
      return lit?.serials[0] ?? null;
    },
    /** The tokens of the text that the lit lookup found: the key and what followed it. */
    get sources() {
      if (!lit || !ledger || lit.from === null) return [];
      const lo = Math.max(0, lit.from - Math.min(lit.key ?? 0, 16));
      return ledger.model.committed.slice(lo, Math.max(lo, lit.from + lit.serials.length));
    },
    update(/** @type {import("../../shared/run/trace.js").TraceModel} */ model, /** @type {number} */ cursor) {
      if (el.hidden || !model?.header) return;
      if (ledger?.model !== model) ledger = new Ledger(model);
      const looks = ledger.level >= 0 && !model.header.simulated;
      body.hidden = !looks;
      empty.hidden = looks;
      say(where, DB.round(roundNumber(model.roundAt(cursor)), model.rounds.length));
      if (!looks) {
        lit = null;
        empty.replaceChildren(nothing(model));
        return link.join(null, null);
      }
      ledger.catchUp();
      lit = litAt(ledger, cursor);
      shares.update(ledger, cursor);
      lookups.update(ledger, cursor);
      entries.update(ledger, cursor, lit);
      entries.el.hidden = ledger.columns > 0 && !ledger.order.includes("c");
      ahead.update(ledger, cursor, lit);
      const from = lit?.from ?? -1;
      link.join(entries.hit, from >= 0 ? (model.committed[from] ?? null) : null);
    },
    /** The line goes with the view. */
    closed() {
      lit = null;
      link.join(null, null);
    },
    /** Whether the key was one of its own. */
    key(/** @type {string} */ name) {
      if (name === "ArrowRight" || name === "ArrowLeft") player.stepEvent(name === "ArrowRight" ? 1 : -1);
      else return false;
      return true;
    },
  };
}
