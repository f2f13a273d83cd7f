/** What the page says of a store of a text's states. */

import { translate } from "../../../text/language.js";

export const STORE = {
  figure: /** @type {[string, string]} */ ([
    "queries of the store",
    "passes of the target that asked its store of a text, the rows that each asked for at once, and the time of them all; plain decoding asks once a token. Darker feet of blocks in the lanes show that time",
  ]),
  asks: (/** @type {number} */ count, /** @type {string} */ rows, /** @type {string} */ ms) =>
    `${count} of ${rows} rows, ${ms} ms`,
  asked: (/** @type {number} */ rows, /** @type {string} */ time) =>
    `of it ${time} for one query of the store, ${rows === 1 ? "1 row" : `${rows} rows at once`}`,
};

translate("systems/store", { STORE });
