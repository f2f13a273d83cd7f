/** What the page says of two models in turn. */

import { translate } from "../../../text/language.js";

export const TURNS = {
  figure: /** @type {[string, string]} */ ([
    "by the large model",
    "tokens that the large model wrote; the small one wrote the others, pale in the lanes. The line is the mean entropy of the last tokens: from the dashed threshold on the large model writes",
  ]),
  share: (/** @type {string} */ percent) => `${percent} %`,
  call: (/** @type {boolean} */ large, /** @type {string} */ bits) =>
    `by the ${large ? "large" : "small"} model, entropy ${bits} bits`,
};

translate("systems/turns", { TURNS });
