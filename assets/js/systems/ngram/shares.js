/** Who supplied how much: the table of shares. */

import { h, say } from "../../shared/kit/dom.js";
import { originOf } from "../../shared/levels/kinds.js";
import { chip, hueOf } from "./pieces.js";
import { SHARES } from "./words.js";

/** @typedef {import("./ledger.js").Ledger} Ledger */

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
      say(cells.silent[0], String(sum.silent));
      say(cells.others[1], SHARES.ratio(total - looked, total));
      share(cells.others[2], total - looked);
    },
  };
}
