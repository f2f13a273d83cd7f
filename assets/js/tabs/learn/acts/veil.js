/** What a question asks about, and so what no picture tells while it is open. The figures that a question names say it by
 *  themselves; a question names the rest in `hides`. Explore is not in sight meanwhile: it opens with the answer. */

import { isBench, references } from "../figures/refs.js";

/** What tells a figure, by the head of its name. */
const TELLS = /** @type {Record<string, string>} */ ({
  speedup: "speed",
  gain: "speed",
  beside: "speed",
  tokens_per_s: "speed",
  ms_per_token: "speed",
  pass_ms: "speed",
  best: "speed",
  speed_up: "speed",
  low: "speed",
  high: "speed",
  per_forward: "per-pass",
  yields: "per-pass",
  equal: "equal",
  source: "source",
  acceptance: "acceptance",
  accepted: "acceptance",
});

/** What an open question hides. @param {import("../figures/figure-parts.js").Question} question @returns {string[]} */
export function hiddenBy({ number, choices = [], hides = [] }) {
  const texts = [number?.answer ?? "", ...choices.map((one) => one.when ?? "")];
  const asked = texts.flatMap(references).filter(({ source, name }) => !source || isBench(source) || name === "beside");
  const named = asked.map(({ name }) => TELLS[name.split(".")[0]]); // figures of other recordings are in no picture
  return [...new Set([...named.filter(Boolean), ...hides])];
}
