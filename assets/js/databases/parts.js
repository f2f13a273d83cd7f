/** The three parts of the databases' view: who supplied how much, the last lookups, what D_c holds. */

import { written } from "../copies.js";
import { h, say } from "../dom.js";
import { originOf } from "../kinds.js";
import { showRows } from "./rows.js";
import { DB, ENTRIES, LOOKUPS, SHARES } from "../words/databases.js";

const LAST = 14; // lookups
const USED = 60; // entries
const OUT = 3; // evicted ones, where none is among those
const AROUND = 6; // tokens on both sides of what was found

/**
 * @typedef {import("./ledger.js").Ledger} Ledger
 * @typedef {import("./ledger.js").Lookup} Lookup
 */

const chip = (/** @type {Ledger} */ ledger, /** @type {string} */ letter) =>
  h("span", { class: "hx-db-chip", text: letter, style: { "--hue": hueOf(ledger, letter) } });

const hueOf = (/** @type {Ledger} */ ledger, /** @type {string} */ letter) =>
  originOf(ledger.model.levels[ledger.level].kind, letter)?.hue ?? "var(--muted)";

export const words = (/** @type {Ledger} */ ledger, /** @type {number[]} */ ids) =>
  written(
    ledger.model,
    ids.map((id) => ({ id })),
  );

/** A piece of the text. */
export const quote = (/** @type {string} */ kind, /** @type {string} */ text) =>
  h("span", { class: `hx-db-words ${kind}`, dir: "auto", text });

/** The table of shares. */
export function sharesPart() {
  const body = h("tbody");
  const heads = [
    [SHARES.database, null],
    [SHARES.answered, SHARES.answeredTip],
    [SHARES.kept, SHARES.keptTip],
    [SHARES.share, null],
  ];
  const el = h(
    "div",
    { class: "hx-db-part hx-db-shares" },
    h(
      "table",
      {},
      h("caption", { text: SHARES.caption }),
      h("thead", {}, h("tr", {}, ...heads.map(([text, tip]) => h("th", { scope: "col", text, "data-tip": tip })))),
      body,
    ),
  );
  /** @type {Record<string, HTMLElement[]>} */ let cells = {};
  /** @type {Ledger|null} */ let drawnFor = null;

  function build(/** @type {Ledger} */ ledger) {
    drawnFor = ledger;
    cells = {};
    const line = (/** @type {string} */ key, /** @type {HTMLElement[]} */ head, /** @type {string} */ hue) => {
      cells[key] = [h("td"), h("td"), h("td", { class: "hx-db-bar", style: { "--hue": hue } })];
      return h("tr", { "data-database": key }, h("th", { scope: "row" }, ...head), ...cells[key]);
    };
    body.replaceChildren(
      ...ledger.order.map((letter) => {
        const title = originOf(ledger.model.levels[ledger.level].kind, letter)?.title ?? letter;
        return line(letter, [chip(ledger, letter), h("span", { text: title })], hueOf(ledger, letter));
      }),
      line("silent", [h("span", { text: SHARES.silent })], "var(--muted)"),
      line("others", [h("span", { text: SHARES.others })], "var(--muted)"),
    );
    if (!ledger.tells) cells.silent[0].dataset.tip = SHARES.untold;
  }

  return {
    el,
    update(/** @type {Ledger} */ ledger, /** @type {number} */ cursor) {
      if (ledger !== drawnFor) build(ledger);
      const sum = ledger.at(cursor);
      const total = ledger.model.committedAt(cursor);
      let looked = 0;
      const share = (/** @type {HTMLElement} */ cell, /** @type {number} */ kept) => {
        say(cell, SHARES.percent(total ? kept / total : 0));
        cell.style.setProperty("--part", String(total ? kept / total : 0));
      };
      for (const letter of ledger.order) {
        const { answered, offered, kept } = sum.by[letter];
        looked += kept;
        say(cells[letter][0], String(answered));
        say(cells[letter][1], SHARES.ratio(kept, offered));
        share(cells[letter][2], kept);
      }
      say(cells.silent[0], `${sum.silent}${ledger.tells ? "" : "+"}`);
      say(cells.others[1], SHARES.ratio(total - looked, total));
      share(cells.others[2], total - looked);
    },
  };
}

/** The list of lookups. @param {{onSeek: (ns: number) => void}} ctx */
export function lookupsPart({ onSeek }) {
  const body = h("tbody");
  const names = [LOOKUPS.round, LOOKUPS.key, LOOKUPS.who, LOOKUPS.followed, LOOKUPS.fate];
  const el = h(
    "div",
    { class: "hx-db-part hx-db-lookups", tabindex: "0", role: "region", "aria-label": LOOKUPS.caption },
    h(
      "table",
      {},
      h("caption", { text: LOOKUPS.caption }),
      h("thead", {}, h("tr", {}, ...names.map((text) => h("th", { scope: "col", text })))),
      body,
    ),
  );

  function row(/** @type {Ledger} */ ledger, /** @type {Lookup} */ one, /** @type {any} */ fate, now) {
    const go = h("button", {
      type: "button",
      class: "hx-db-go",
      "aria-label": LOOKUPS.to(one.round + 1),
      text: String(one.round + 1),
      onclick: () => onSeek(one.t),
    });
    const first = h("td", {}, go);
    const attributes = { "data-hit": one.letter ?? "none", "data-now": now };
    if (one.letter === null) {
      const asked = ledger.order.join(" ");
      return h(
        "tr",
        attributes,
        first,
        h("td", { colspan: "4", class: "hx-db-silent", text: LOOKUPS.silent(asked, one.count) }),
      );
    }
    const key = one.key === null ? LOOKUPS.unknownKey : words(ledger, ledger.keyOf(one));
    const passed = one.side ? [] : ledger.order.slice(0, ledger.order.indexOf(one.letter));
    const silent = passed.length ? h("small", { text: LOOKUPS.passed(passed.join(" ")) }) : null;
    return h(
      "tr",
      attributes,
      first,
      h("td", {}, quote("hx-db-key", key)),
      h("td", { class: "hx-db-by" }, chip(ledger, one.letter), silent),
      h("td", {}, ...followed(ledger, one, fate)),
      h("td", { "data-tip": LOOKUPS.fateTip(fate), text: said(fate, one.serials.length) }),
    );
  }

  /** Its tokens, those that a verifier kept apart from the others. */
  function followed(/** @type {Ledger} */ ledger, /** @type {Lookup} */ one, /** @type {any} */ fate) {
    const ids = one.serials.map((serial) => ledger.model.tokens.get(serial)?.id ?? -1);
    const cuts = [fate.kept, fate.kept + fate.rejected, ids.length];
    const kinds = ["hx-db-kept", "hx-db-rejected", fate.waiting ? "hx-db-waits" : "hx-db-lost"];
    return kinds.map((kind, i) => {
      const part = ids.slice(i ? cuts[i - 1] : 0, cuts[i]);
      return part.length ? quote(kind, words(ledger, part)) : null;
    });
  }

  const said = (/** @type {any} */ fate, /** @type {number} */ all) =>
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
      const none = () => h("tr", {}, h("td", { colspan: "5", class: "hx-db-silent", text: LOOKUPS.empty }));
      showRows(body, rows.length ? rows : [{ key: "none", sign: "", make: none }]);
    },
  };
}

/** What D_c holds. @param {{onShow: () => void}} ctx onShow: bring the place that was found into sight */
export function entriesPart({ onShow }) {
  const title = h("h3", { "data-tip": ENTRIES.tip, tabindex: "0" });
  const gone = h("p", { class: "hx-db-note" });
  const hit = h("p", { class: "hx-db-hit" });
  const list = h("ol", { "aria-label": ENTRIES.list });
  const foot = h("p", { class: "hx-db-note" });
  const scroll = h(
    "div",
    { class: "hx-db-scroll", tabindex: "0", role: "region", "aria-label": ENTRIES.list },
    list,
    foot,
  );
  const el = h("div", { class: "hx-db-part hx-db-entries" }, title, hit, gone, scroll);
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
        h("span", { class: "hx-db-note", text: ENTRIES.hit(one.from < 0 ? ENTRIES.prompt : ENTRIES.text) }),
        quote("hx-db-near", says(Math.max(edge[0], at - key - AROUND), at - key)),
        quote("hx-db-key", says(at - key, at)),
        h("mark", { class: "hx-db-words", dir: "auto", text: says(at, end) }),
        quote("hx-db-near", says(end, Math.min(edge[1], end + AROUND, ledger.prompt.length + one.at))),
        " ",
        h("span", { class: "hx-db-note", text: ENTRIES.behind(key) }),
      );
      if (one.from >= 0)
        hit.append(" ", h("button", { type: "button", class: "hx-db-show", text: ENTRIES.show, onclick: onShow }));
    }
  }

  function entry(/** @type {Ledger} */ ledger, place, n, isHit) {
    const { at, lengths, fresh } = place;
    const longest = lengths[lengths.length - 1];
    const note = [ENTRIES.lengths(lengths), fresh ? ENTRIES.fresh(fresh) : ENTRIES.again].join(", ");
    return h(
      "li",
      { "data-hit": isHit },
      quote("hx-db-key", words(ledger, ledger.ids(at - longest, at))),
      h("span", { class: "hx-db-arrow", text: "\u2192" }),
      quote("", words(ledger, ledger.ids(at, Math.min(n, at + ledger.continuation)))),
      h("span", { class: "hx-db-note", text: note }),
    );
  }

  const struck = (/** @type {Ledger} */ ledger, /** @type {{at: number, length: number}} */ { at, length }) =>
    h(
      "li",
      { "data-gone": true },
      h(
        "s",
        {},
        quote("hx-db-key", words(ledger, ledger.ids(at - length, at))),
        h("span", { class: "hx-db-arrow", text: "\u2192" }),
        quote("", words(ledger, ledger.ids(at, at + 1))),
      ),
      h("span", { class: "hx-db-note", text: ENTRIES.gone }),
    );

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
        say(gone, ledger.order.includes("c") || !ledger.order.length ? ENTRIES.old : "");
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

/** What is said where there is nothing to see. @param {import("../trace.js").TraceModel} model */
export const nothing = (model) =>
  h(
    "div",
    { class: "hx-db-none" },
    h("p", { text: model.header?.simulated ? DB.simulated : DB.none }),
    h("p", { class: "hx-db-note", text: DB.cure }),
  );
