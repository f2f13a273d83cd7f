/** The last lookups: under which key each was asked, who answered, what was kept of it. */

import { h } from "../../shared/kit/dom.js";
import { roundNumber } from "../../shared/kit/round-number.js";
import { chip, quote, words, showRows } from "./pieces.js";
import { LOOKUPS } from "./words.js";

/** @import {Ledger, Lookup} from "./ledger.js" */

const LAST = 14; // lookups

/** The list of lookups. @param {{onSeek: (ns: number) => void}} ctx */
export function lookupsPart({ onSeek }) {
  const body = h("tbody");
  const names = [LOOKUPS.round, LOOKUPS.key, LOOKUPS.who, LOOKUPS.followed, LOOKUPS.fate];
  const el = h("div.hx-db-part.hx-db-lookups", { tabindex: "0", role: "region", "aria-label": LOOKUPS.caption }, [
    h("table", [
      h("caption", LOOKUPS.caption),
      h("thead", [h("tr", [names.map((text) => h("th", { scope: "col", text }))])]),
      body,
    ]),
  ]);

  /** @param {boolean} now */
  function row(
    /** @type {Ledger} */ ledger,
    /** @type {Lookup} */ one,
    /** @type {ReturnType<Ledger["fate"]>} */ fate,
    now,
  ) {
    const go = h("button.hx-db-go", {
      "aria-label": LOOKUPS.to(roundNumber(one.round)),
      text: String(roundNumber(one.round)),
      onclick: () => onSeek(one.t),
    });
    const first = h("td", go);
    const attributes = { "data-hit": one.letter ?? "none", "data-now": now };
    if (one.letter === null) {
      const asked = ledger.order.join(" ");
      return h("tr", attributes, [
        first,
        h("td.hx-db-silent", { colspan: "4", text: LOOKUPS.silent(asked, one.count) }),
      ]);
    }
    const key = one.key === null ? LOOKUPS.unknownKey : words(ledger, ledger.keyOf(one));
    const passed = one.side ? [] : ledger.order.slice(0, ledger.order.indexOf(one.letter));
    const silent = passed.length ? h("small", LOOKUPS.passed(passed.join(" "))) : null;
    return h("tr", attributes, [
      first,
      h("td", quote("hx-db-key", key)),
      h("td.hx-db-by", [chip(ledger, one.letter), silent]),
      h("td", followed(ledger, one, fate)),
      h("td", { "data-tip": LOOKUPS.fateTip(fate), text: said(fate, one.serials.length) }),
    ]);
  }

  /** Its tokens, those that a verifier kept apart from the others.
   *  @param {Ledger} ledger @param {Lookup} one @param {ReturnType<Ledger["fate"]>} fate */
  function followed(ledger, one, fate) {
    const ids = one.serials.map((serial) => ledger.model.tokens.get(serial)?.id ?? -1);
    const cuts = [fate.kept, fate.kept + fate.rejected, ids.length];
    const kinds = ["hx-db-kept", "hx-db-rejected", fate.waiting ? "hx-db-waits" : "hx-db-lost"];
    return kinds.map((kind, i) => {
      const part = ids.slice(i ? cuts[i - 1] : 0, cuts[i]);
      return part.length ? quote(kind, words(ledger, part)) : null;
    });
  }

  const said = (/** @type {ReturnType<Ledger["fate"]>} */ fate, /** @type {number} */ all) =>
    fate.waiting === all ? LOOKUPS.waits : fate.lost === all ? LOOKUPS.unjudged : LOOKUPS.of(fate.kept, all);

  return {
    el,
    update(/** @type {Ledger} */ ledger, /** @type {number} */ cursor) {
      const seen = ledger.seen(cursor);
      const now = ledger.lookups[seen - 1]?.t;
      const last = ledger.lookups.slice(Math.max(0, seen - LAST), seen).reverse();
      const rows = last.map((one) => {
        const fate = ledger.fate(one, cursor);
        const sign = [fate.kept, fate.rejected, fate.lost, fate.waiting, fate.committed, one.t === now].join();
        return { key: String(one.n), sign, make: () => row(ledger, one, fate, one.t === now) };
      });
      const none = () => h("tr", h("td.hx-db-silent", { colspan: "5", text: LOOKUPS.empty }));
      showRows(body, rows.length ? rows : [{ key: "none", sign: "", make: none }]);
    },
  };
}
