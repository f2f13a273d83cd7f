/** What the page says of tokens that leave early. */

import { translate } from "../../../text/language.js";

export const CALM = {
  figure: /** @type {[string, string]} */ ([
    "layers a token",
    "the mean layer at which a token left the model; the layers above got a copy of its state. Blocks in the lanes are lit up to it",
  ]),
  call: (/** @type {string} */ layers, /** @type {string} */ sure) => `left after layer ${layers}, sure by ${sure}`,
};

translate("systems/calm", { CALM });
