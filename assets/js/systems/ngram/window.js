/** The lookahead window: the n-grams that its last step gave, column by column, and what is kept of all steps behind the
 *  token that was last looked up. Both are read from the `window` of what the trace says was filed. */

import { h, say } from "../../shared/kit/dom.js";
import { upTo } from "../../shared/kit/order.js";
import { quote, words, showRows } from "./pieces.js";
import { WINDOW } from "./words.js";

/** @import {Ledger, Lookup} from "./ledger.js" */

const MOST = { columns: 32, n: 16 }; // of a stranger's trace

/** The last `kept` different n-grams of those that begin with a token, newest first: what an LRU of that size holds.
 *  @param {number[][]} filed oldest first @param {number} first @param {number} kept */
export function keptBehind(filed, first, kept) {
  /** @type {Map<string, number[]>} */ const found = new Map();
  for (let i = filed.length - 1; i >= 0 && found.size < kept; i--)
    if (filed[i][0] === first && !found.has(filed[i].join())) found.set(filed[i].join(), filed[i]);
  return [...found.values()];
}

/** What the window had given at a moment: all n-grams in order, and those of the last step. @param {Ledger} ledger @param {number} cursor */
export function givenAt(ledger, cursor) {
  const step = ledger.steps[upTo(ledger.steps, cursor, (x) => x.t) - 1];
  const filed = ledger.ahead.slice(0, step?.filed ?? 0);
  return { filed, last: filed.slice(-ledger.columns) };
}

export function windowPart() {
  const title = h("h3", { "data-tip": WINDOW.tip, tabindex: "0" });
  const body = h("tbody");
  const table = h("table.hx-db-lattice", [h("caption.hx-db-note", WINDOW.lattice), body]);
  const note = h("p.hx-db-note");
  const list = h("ol", { "aria-label": WINDOW.list });
  const scroll = h("div.hx-db-across", { tabindex: "0", role: "region", "aria-label": WINDOW.lattice }, table);
  const el = h("div.hx-db-part.hx-db-window", { hidden: true }, [title, scroll, note, list]);

  /** One row of the lattice: the same place of every column's n-gram. */
  function row(/** @type {Ledger} */ ledger, /** @type {number[][]} */ last, /** @type {number} */ place) {
    const name = place === 0 ? WINDOW.head : place === ledger.n - 1 ? WINDOW.said : "";
    const texts = last.map((ngram) => words(ledger, ngram.slice(place, place + 1)));
    const cells = texts.map((text) => h("td", { "data-tip": text.length > 8 ? text : null }, quote("", text)));
    const head = name ? h("th.hx-db-silent", { scope: "row", text: name }) : h("td");
    return h("tr", [head, cells]);
  }

  return {
    el,
    /** @param {Ledger} ledger @param {number} cursor @param {Lookup|null} lit */
    update(ledger, cursor, lit) {
      el.hidden = !(ledger.columns >= 1 && ledger.columns <= MOST.columns && ledger.n >= 3 && ledger.n <= MOST.n);
      if (el.hidden) return;
      const { filed, last } = givenAt(ledger, cursor);
      say(title, WINDOW.title(filed.length));
      scroll.hidden = !last.length;
      const places = last.length ? [...Array(ledger.n).keys()] : [];
      const sign = (/** @type {number} */ place) => last.map((ngram) => ngram[place]).join();
      showRows(
        body,
        places.map((place) => ({ key: String(place), sign: sign(place), make: () => row(ledger, last, place) })),
      );
      const key = lit?.letter === "w" ? ledger.keyOf(lit) : [];
      const first = key[key.length - 1];
      const found = first === undefined ? [] : keptBehind(filed, first, ledger.kept);
      say(note, last.length ? (found.length ? WINDOW.behind(found.length) : WINDOW.other) : WINDOW.fills);
      showRows(
        list,
        found.map((ngram) => ({
          key: ngram.join(),
          sign: "",
          make: () =>
            h("li", [
              quote("hx-db-key", words(ledger, ngram.slice(0, 1))),
              h("span.hx-db-arrow", "\u2192"),
              quote("", words(ledger, ngram.slice(1))),
            ]),
        })),
      );
    },
  };
}
