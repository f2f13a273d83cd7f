/** The sentences of a level with a running state. */

import { translate } from "../../../text/language.js";
import { many } from "../../../text/many.js";

export const STATE = {
  sum: "the running sum of all text before",
  says: (/** @type {{name: string, tokens: number, read: number, all: number}} */ x) =>
    `${x.name} keeps one running sum of the text, and no keys. In one pass each of its ${many(x.tokens, "token")} reads that sum (left) and the tokens on its own path: ${x.read} of ${x.all} cells.`,
};

translate("systems/stree", { STATE });
