/** The databases of Hierarchy Drafting, as they are asked: who supplied how much of the text, the last lookups, and what
 *  the context's own database holds, the entry that was found lit with its place in the text. It follows the cursor. A
 *  database more is a row more in the first table; a window of lookahead would be a part beside the others. */

import { faceButton, h, say, stepButton } from "../../shared/kit/dom.js";
import { roundNumber } from "../../shared/kit/round-number.js";
import { Ledger } from "./ledger.js";
import { entriesPart } from "./entries.js";
import { lookupsPart } from "./lookups.js";
import { nothing, chip, hueOf } from "./pieces.js";
import { windowPart } from "./window.js";
import { DB, SHARES } from "./words.js";
import { originOf } from "../../shared/levels/kinds.js";

/** @param {{player: import("../../shared/player/player.js").Player, stage: HTMLElement, onClose: () => void, onChange: () => void}} ctx
 */
export function createDatabases({ player, stage, onClose }) {
  const title = h("h2", { tabindex: "-1", text: DB.title });
  const where = h("span.hx-an-muted.hx-an-facts");
  const shares = sharesPart();
  const lookups = lookupsPart({ onSeek: (ns) => player.seek(ns) });
  const link = createLink(stage);
  const entries = entriesPart({
    onShow: () => link.target()?.scrollIntoView({ block: "center", behavior: "instant" }),
  });
  const ahead = windowPart();
  const side = h("div.hx-db-side", [ahead.el, entries.el]);
  const body = h("div.hx-db-body", [shares.el, lookups.el, side]);
  const empty = h("div", { hidden: true });
  const el = h("section.hx-desk.hx-databases", { "aria-label": DB.title, hidden: true }, [
    h("header.hx-panel-head.hx-desk-head", [
      title,
      where,
      h("span.hx-an-keys.hx-an-muted", DB.keys),
      stepButton(-1, DB.back, () => player.stepEvent(-1)),
      stepButton(1, DB.on, () => player.stepEvent(1)),
      faceButton("\u00d7", DB.close, () => onClose(), "hx-desk-close"),
    ]),
    body,
    empty,
  ]);
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
      side.hidden = ledger.counts;
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

// The line from an entry that was found to its place in the text, over both panels; none where the place is out of
// sight.

const SPACE = "http://www.w3.org/2000/svg";

/** @param {HTMLElement} stage */
function createLink(stage) {
  const svg = document.createElementNS(SPACE, "svg");
  const path = document.createElementNS(SPACE, "path");
  svg.setAttribute("class", "hx-db-link");
  svg.setAttribute("aria-hidden", "true");
  svg.append(path);
  stage.append(svg);
  /** @type {Element|null} */ let from = null;
  /** @type {number|null} */ let serial = null;
  let frame = 0;

  const target = () => (serial === null ? null : stage.querySelector(`.hx-flow [data-serial="${serial}"]`));

  function draw() {
    frame = 0;
    const to = from && target();
    const [a, b] = [from?.getBoundingClientRect(), to?.getBoundingClientRect()];
    const room = to?.closest(".hx-text")?.getBoundingClientRect();
    const seen = a && b && room && a.width > 0 && b.width > 0 && b.bottom > room.top && b.top < room.bottom;
    const clear = seen && b.bottom <= a.top; // on a phone the view covers the text
    svg.toggleAttribute("data-shown", Boolean(clear));
    if (!clear || !a || !b) return;
    const [x1, y1, x2, y2] = [a.left + 0.45 * a.width, a.top, b.left + b.width / 2, b.bottom + 2];
    const bend = Math.max(16, (y1 - y2) / 2);
    path.setAttribute("d", `M${x1} ${y1}C${x1} ${y1 - bend} ${x2} ${y2 + bend} ${x2} ${y2}`);
  }
  const later = () => {
    frame ||= requestAnimationFrame(draw);
  };
  stage.addEventListener("scroll", () => from && later(), { capture: true, passive: true });
  addEventListener("resize", () => from && later());
  addEventListener("scroll", () => from && later(), { passive: true });

  return {
    target,
    /** @param {Element|null} element @param {number|null} to the serial of a token of the text */
    join(element, to) {
      from = to === null ? null : element;
      serial = to;
      later();
    },
  };
}

// Who supplied how much: the table of shares.

function sharesPart() {
  const body = h("tbody");
  const heads = [
    [SHARES.database, null],
    [SHARES.answered, SHARES.answeredTip],
    [SHARES.kept, SHARES.keptTip],
    [SHARES.share, null],
  ];
  const el = h("div.hx-db-part.hx-db-shares", [
    h("table", [
      h("caption", SHARES.caption),
      h("thead", [h("tr", [heads.map(([text, tip]) => h("th", { scope: "col", text, "data-tip": tip }))])]),
      body,
    ]),
  ]);
  /** @type {Record<string, HTMLElement[]>} */ let cells = {};
  /** @type {Ledger|null} */ let drawnFor = null;

  function build(/** @type {Ledger} */ ledger) {
    drawnFor = ledger;
    cells = {};
    const line = (/** @type {string} */ key, /** @type {HTMLElement[]} */ head, /** @type {string} */ hue) => {
      cells[key] = [h("td"), h("td"), h("td.hx-db-bar", { style: { "--hue": hue } })];
      return h("tr", { "data-database": key }, [h("th", { scope: "row" }, head), cells[key]]);
    };
    body.replaceChildren(
      ...ledger.order.map((letter) => {
        const title = originOf(ledger.model.levels[ledger.level].kind, letter)?.title ?? letter;
        return line(letter, [chip(ledger, letter), h("span", title)], hueOf(ledger, letter));
      }),
      line("silent", [h("span", SHARES.silent)], "var(--muted)"),
      line("others", [h("span", SHARES.others)], "var(--muted)"),
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
