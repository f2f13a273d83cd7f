/** The sentences of the map of sublayers. */

import { translate } from "../../../text/language.js";
import { many } from "../../../text/many.js";
import { fixed } from "../../../text/numbers.js";

const percent = (/** @type {number} */ share) => `${Math.round(100 * share)}\u202f%`;

export const LADDER = {
  title: "What is lost without each sublayer",
  kinds: /** @type {Record<string, string>} */ ({ attention: "attention", mlp: "MLP" }),
  layer: "layer",
  cell: (
    /** @type {string} */ kind,
    /** @type {number} */ layer,
    /** @type {number} */ lost,
    /** @type {boolean} */ out,
  ) =>
    `${kind} of layer ${layer}: without it alone ${percent(lost)} of the target\u2019s tokens are lost${out ? "; left out here" : ""}`,
  picture: (/** @type {number} */ layers, /** @type {string[]} */ heavy) =>
    `${layers} layers from left to right, attention above MLP, darker where more is lost. Most by ${heavy.join(", ")}.`,
  heavy: (/** @type {string} */ kind, /** @type {number} */ layer, /** @type {number} */ lost) =>
    `${kind} ${layer} (${percent(lost)})`,
  slider: "left out, cheapest first",
  none: "Nothing left out: the target itself, which agrees with itself.",
  step: (
    /** @type {number} */ count,
    /** @type {number} */ agree,
    /** @type {number} */ left,
    /** @type {number} */ gain,
  ) =>
    `${count} left out: right on ${percent(agree)} of tokens, reads ${percent(left)} of the weights; at best ${fixed(gain, 2)}\u00d7 plain decoding.`,
  rows: "a column a layer: attention above, MLP below",
  legend: { little: "little is lost", all: "all is lost", out: "left out" },
  figures: "All figures",
  lost: "lost without it alone",
  read: (/** @type {number} */ places, /** @type {number} */ texts, /** @type {string} */ machine) =>
    `Each alone, on ${many(places, "token")} of ${many(texts, "text")}, read as the first of a draft. ${machine}. At best: the draft costs its share of the weights, and each of its tokens agrees as the first does.`,
};

translate("systems/skip", { LADDER });
