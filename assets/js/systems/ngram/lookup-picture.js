/** A lookup in the text, step by step: the key slides to the place where it stood before, what followed there is copied, the
 *  verifier keeps some of it; and what entered and left the databases. From a recorded run. */

import { Ledger } from "./ledger.js";
import { chip, words } from "./pieces.js";
import { h, stepButton } from "../../shared/kit/dom.js";
import { originOf } from "../../shared/levels/kinds.js";
import { frame, slider } from "../../tabs/learn/pictures/frame.js";
import { bring } from "../index.js";
import { LOOKUP } from "./words.js";

const BEFORE = 4; // tokens
const STAGES = 4; // the key, its match, the copy, the verdict

/** Lookups of the text itself that brought something. @param {Ledger} ledger */
const telling = (ledger) =>
  ledger.lookups.filter((one) => one.from !== null && one.key && !one.side && ledger.fate(one, Infinity).kept > 0);

/** @param {import("../../tabs/learn/pictures/frame.js").PictureContext} ctx @returns {import("../../tabs/learn/pictures/frame.js").Picture} */
function lookupPicture({ model }) {
  const ledger = new Ledger(model);
  ledger.catchUp();
  const found = telling(ledger);
  const kept = found.map((one) => ledger.fate(one, Infinity).kept);
  const now = { at: kept.indexOf(Math.max(...kept)), stage: 0 };
  const strip = h("div.hx-look", { tabindex: "0", role: "region", "aria-label": LOOKUP.label });
  const books = h("table.hx-look-books");
  const kind = model.levels[ledger.level].kind;
  const cells = (/** @type {number[]} */ ids, /** @type {string} */ name, from = 1) =>
    ids.map((id, i) =>
      h("span.hx-look-token", {
        class: name,
        dir: "auto",
        text: model.pieceText(id) || "\u2205",
        style: { "grid-column": String(from + i) },
      }),
    );

  function draw() {
    const one = found[now.at];
    const key = ledger.keyOf(one);
    const end = ledger.prompt.length + /** @type {number} */ (one.from); // of the match
    const here = ledger.prompt.length + one.at; // of the text
    const ids = one.serials.map((serial) => model.tokens.get(serial)?.id ?? -1);
    const fate = ledger.fate(one, Infinity);
    const behind = ledger.ids(end, end + ids.length);
    const [k, b] = [key.length, matchMedia("(max-width: 700px)").matches ? 1 : BEFORE];
    const early = ledger.ids(end - k - b, end - k);
    const late = ledger.ids(here - k - b, here - k);
    const copied = cells(ids, "hx-look-copied", b + k + 1);
    copied.forEach((cell, i) => {
      if (now.stage === STAGES - 1)
        cell.dataset.fate = i < fate.kept ? "kept" : i < fate.kept + fate.rejected ? "rejected" : "lost";
    });
    const row = (/** @type {string} */ name, /** @type {any[]} */ ...parts) =>
      h("p.hx-look-row", { style: { "--tokens": String(b + k + ids.length) } }, [
        h("span.hx-look-name", name),
        h("span.hx-look-cells", parts),
      ]);
    strip.dataset.stage = String(now.stage);
    strip.replaceChildren(
      row(
        LOOKUP.before(end < ledger.prompt.length),
        ...cells(early, "", b - early.length + 1),
        ...cells(key, "hx-look-match", b + 1),
        ...cells(behind, "hx-look-follows", b + k + 1),
      ),
      row("", ...cells(key, "hx-look-key", b + 1), ...(now.stage >= 2 ? copied : [])),
      row(LOOKUP.now, ...cells(late, "", b - late.length + 1), ...cells(key, "", b + 1)),
    );
    told(one, { key: words(ledger, key), copy: words(ledger, ids), fate, count: ids.length, back: here - end });
    shelves(one);
  }

  /** What each database holds when the round is over, and what came and went in it. */
  function shelves(/** @type {import("./ledger.js").Lookup} */ one) {
    const { prompt, book } = ledger;
    const round = model.rounds.find((x) => x.round === one.round);
    const [n0, n1] = [round?.t0 ?? 0, round?.t1 ?? 0].map((t) => prompt.length + model.committedAt(t));
    const row = (/** @type {string} */ letter) => {
      const title = originOf(kind, letter)?.title ?? letter;
      const own = letter === "c" && book;
      const entered = own ? book.ends[n1] - book.ends[n0] : 0;
      const left = own ? book.evictions[n1] - book.evictions[n0] : 0;
      const figures = own
        ? [LOOKUP.count(book.sizes[n1]), LOOKUP.count(entered), LOOKUP.count(left)]
        : [LOOKUP.fixed, "0", "0"];
      return h("tr", { "data-answered": letter === one.letter ? "1" : null }, [
        h("th", { scope: "row" }, [chip(ledger, letter), ` ${title}`]),
        figures.map((text) => h("td", text)),
        h("td", letter === one.letter ? LOOKUP.answered : LOOKUP.asked(ledger.order, letter, one.letter)),
      ]);
    };
    books.replaceChildren(
      h("thead", [h("tr", [LOOKUP.heads.map((text) => h("th", { scope: "col", text }))])]),
      h("tbody", ledger.order.map(row)),
    );
  }

  const told = (/** @type {any} */ one, /** @type {any} */ x) =>
    picture.tell(LOOKUP.stages[now.stage]({ ...x, letter: one.letter }));
  const to = (/** @type {number} */ stage) => {
    now.stage = Math.max(0, Math.min(STAGES - 1, stage));
    draw();
  };
  const buttons = h("span.hx-sketch-buttons", [
    stepButton(-1, LOOKUP.back, () => to(now.stage - 1)),
    h("button.hx-quiet", { text: LOOKUP.next, onclick: () => to(now.stage === STAGES - 1 ? 0 : now.stage + 1) }),
  ]);
  const which = slider({
    label: LOOKUP.which,
    ...{ min: 1, max: found.length, step: 1, value: now.at + 1, locked: false },
    text: (value) => LOOKUP.of(value, found.length),
    onInput: (value) => {
      now.at = value - 1;
      to(0);
    },
  });
  const picture = frame("lookup", LOOKUP.label, [strip, books], [buttons, which]);
  draw();
  return { el: picture.el };
}

bring({ pictures: [{ name: "lookup", make: lookupPicture }] });
