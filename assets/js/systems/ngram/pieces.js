/** What the parts of the databases' view are made of: a database's letter, words of the text, and nothing to see. */

import { written } from "../../shared/run/copies.js";
import { h } from "../../shared/kit/dom.js";
import { originOf } from "../../shared/levels/kinds.js";
import { DB } from "./words.js";

/** @typedef {import("./ledger.js").Ledger} Ledger */

export const chip = (/** @type {Ledger} */ ledger, /** @type {string} */ letter) =>
  h("span", { class: "hx-db-chip", text: letter, style: { "--hue": hueOf(ledger, letter) } });

export const hueOf = (/** @type {Ledger} */ ledger, /** @type {string} */ letter) =>
  originOf(ledger.model.levels[ledger.level].kind, letter)?.hue ?? "var(--muted)";

export const words = (/** @type {Ledger} */ ledger, /** @type {number[]} */ ids) =>
  written(
    ledger.model,
    ids.map((id) => ({ id })),
  );

/** A piece of the text. */
export const quote = (/** @type {string} */ kind, /** @type {string} */ text) =>
  h("span", { class: `hx-db-words ${kind}`, dir: "auto", text });

/** What is said where there is nothing to see. @param {import("../../shared/run/trace.js").TraceModel} model */
export const nothing = (model) =>
  h(
    "div",
    { class: "hx-db-none" },
    h("p", { text: model.header?.simulated ? DB.simulated : DB.none }),
    h("p", { class: "hx-db-note", text: DB.cure }),
  );
