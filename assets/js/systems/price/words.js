/** What the page says of one prompt written by stacks that trust more and more. */

import { translate } from "../../../text/language.js";

export const FATES = {
  label: "One prompt, written by several stacks",
  asked: "The texts are drawn once the question is answered.",
  same: "the target\u2019s own text",
  leaves: (/** @type {number} */ at) => `the target\u2019s own text up to token ${at}, then another`,
  here: "here the target alone would have written another text",
  row: (/** @type {string} */ text, /** @type {string} */ price) => (price ? `${text}; ${price}` : text),
  says: "Hatched: not the target\u2019s own choice there. The bar stands where a text leaves the target\u2019s.",
};

translate("systems/price", { FATES });
