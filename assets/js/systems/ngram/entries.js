/** What D_c holds, newest first, and the place that the lookup which is lit has found. */

import { h, say } from "../../shared/kit/dom.js";
import { quote, words, showRows } from "./pieces.js";
import { ENTRIES } from "./words.js";

/** @import {Book} from "./book.js" @import {Ledger, Lookup} from "./ledger.js" */

const USED = 60; // entries
const OUT = 3; // evicted ones, where none is among those
const AROUND = 6; // tokens on both sides of what was found

/** @param {{onShow: () => void}} ctx onShow: bring the place that was found into sight */
export function entriesPart({ onShow }) {
  const title = h("h3", { "data-tip": ENTRIES.tip, tabindex: "0" });
  const gone = h("p.hx-db-note");
  const hit = h("p.hx-db-hit");
  const list = h("ol", { "aria-label": ENTRIES.list });
  const foot = h("p.hx-db-note");
  const scroll = h("div.hx-db-scroll", { tabindex: "0", role: "region", "aria-label": ENTRIES.list }, [list, foot]);
  const el = h("div.hx-db-part.hx-db-entries", [title, hit, gone, scroll]);
  /** @type {[Ledger|null, Lookup|null]} */ let told = [null, null];

  /** The place that was found, in the words around it. @param {Ledger} ledger @param {Lookup|null} one */
  function found(ledger, one) {
    if (told[0] === ledger && told[1] === one) return;
    told = [ledger, one];
    hit.replaceChildren();
    delete hit.dataset.found;
    if (!one) return;
    if (one.letter === null) hit.textContent = ENTRIES.noAnswer;
    else if (one.from === null || !ledger.book) hit.textContent = ENTRIES.noHit(one.letter);
    else {
      const at = ledger.prompt.length + one.from;
      const key = Math.min(one.key ?? 0, 16);
      const end = at + one.serials.length;
      const edge = one.from < 0 ? [0, ledger.prompt.length] : [ledger.prompt.length, Infinity];
      const says = (/** @type {number} */ lo, /** @type {number} */ hi) =>
        words(ledger, ledger.ids(lo, Math.max(lo, hi)));
      hit.dataset.found = one.from < 0 ? "prompt" : "text";
      hit.append(
        h("span.hx-db-note", ENTRIES.hit(one.from < 0 ? ENTRIES.prompt : ENTRIES.text)),
        quote("hx-db-near", says(Math.max(edge[0], at - key - AROUND), at - key)),
        quote("hx-db-key", says(at - key, at)),
        h("mark.hx-db-words", { dir: "auto", text: says(at, end) }),
        quote("hx-db-near", says(end, Math.min(edge[1], end + AROUND, ledger.prompt.length + one.at))),
        " ",
        h("span.hx-db-note", ENTRIES.behind(key)),
      );
      if (one.from >= 0) hit.append(" ", h("button.hx-db-show", { text: ENTRIES.show, onclick: onShow }));
    }
  }

  /** @param {Ledger} ledger @param {ReturnType<Book["newest"]>[0]} place @param {number} n @param {boolean} isHit */
  function entry(ledger, place, n, isHit) {
    const { at, lengths, fresh } = place;
    const longest = lengths[lengths.length - 1];
    const note = [ENTRIES.lengths(lengths), fresh ? ENTRIES.fresh(fresh) : ENTRIES.again].join(", ");
    return h("li", { "data-hit": isHit }, [
      quote("hx-db-key", words(ledger, ledger.ids(at - longest, at))),
      h("span.hx-db-arrow", "\u2192"),
      quote("", words(ledger, ledger.ids(at, Math.min(n, at + ledger.continuation)))),
      h("span.hx-db-note", note),
    ]);
  }

  const struck = (/** @type {Ledger} */ ledger, /** @type {{at: number, length: number}} */ { at, length }) =>
    h("li", { "data-gone": true }, [
      h("s", [
        quote("hx-db-key", words(ledger, ledger.ids(at - length, at))),
        h("span.hx-db-arrow", "\u2192"),
        quote("", words(ledger, ledger.ids(at, at + 1))),
      ]),
      h("span.hx-db-note", ENTRIES.gone),
    ]);

  return {
    el,
    hit,
    /** @param {Ledger} ledger @param {number} cursor @param {Lookup|null} one the lookup that is lit */
    update(ledger, cursor, one) {
      const { book } = ledger;
      found(ledger, one);
      scroll.hidden = !book;
      hit.hidden = !book;
      if (!book) {
        say(title, ledger.order.includes("c") || !ledger.order.length ? "D_c" : ENTRIES.notAsked);
        say(gone, ledger.order.includes("c") || !ledger.order.length ? ENTRIES.unsaid : "");
        return;
      }
      const n = Math.min(book.text.length, ledger.prompt.length + ledger.model.committedAt(cursor));
      say(title, ENTRIES.title(book.sizes[n]));
      say(
        gone,
        ledger.agrees === false
          ? ENTRIES.differs(ledger.filed, book.log.length)
          : ENTRIES.evicted(book.evictions[n], book.rules.kept),
      );
      gone.toggleAttribute("data-wrong", ledger.agrees === false);
      const lit = one?.from === null || !one ? -1 : ledger.prompt.length + one.from;
      const rows = [];
      let shown = 0;
      const out = (/** @type {{at: number, length: number}} */ x) =>
        rows.push({ key: `out ${x.at} ${x.length}`, sign: "", make: () => struck(ledger, x) });
      const places = book.newest(n, USED);
      for (const place of places) {
        shown += place.lengths.length;
        const sign = `${place.lengths} ${Math.min(n, place.at + ledger.continuation)} ${place.at === lit}`;
        if (place.lengths.length)
          rows.push({ key: String(place.at), sign, make: () => entry(ledger, place, n, place.at === lit) });
        place.out.forEach(out);
      }
      if (!places.some((place) => place.out.length)) book.lastOut(n, OUT).forEach(out);
      showRows(list, rows);
      say(foot, shown < book.sizes[n] ? ENTRIES.more(shown, book.sizes[n]) : "");
    },
  };
}
