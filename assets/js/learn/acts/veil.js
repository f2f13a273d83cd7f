/** The veil over the page while a question is open: nothing in sight may tell what it asks. The figures that a question
 *  names say by themselves what must stand behind it; a question names the rest in `hides`. What is drawn of a part is a
 *  matter of veil.css, wherever on the page and whenever it is drawn; what comes after the cursor is not drawn at all. */

import { isBench, references } from "../figures/refs.js";

/** What on the page tells a figure, by the head of its name. */
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

/** The parts that an open question hides. @param {any} question as app/learn/lessons.py declares it @returns {string[]} */
export function hiddenBy({ number, choices = [], hides = [] }) {
  const texts = [number?.answer ?? "", ...choices.map((one) => one.when ?? "")];
  const asked = texts.flatMap(references).filter(({ source, name }) => !source || isBench(source) || name === "beside");
  const named = asked.map(({ name }) => TELLS[name.split(".")[0]]); // figures of other recordings are not on the page
  return [...new Set([...named.filter(Boolean), ...hides])];
}

export class Veil {
  /** @param {Pick<import("../../stage/within-reach.js").Reach, "veil">} stage the first screen */
  constructor(stage) {
    this.stage = stage;
    /** @type {string[]|null} */ this.parts = null; // null: no question is open
  }

  /** Draws the veil over these parts, or takes it away. @param {string[]|null} parts */
  over(parts) {
    this.parts = parts;
    if (parts) document.body.dataset.veiled = parts.join(" ");
    else delete document.body.dataset.veiled;
    this.stage.veil(parts !== null);
  }

  /** Settings under which the page would tell, set otherwise. @returns {Record<string, string>} */
  get settings() {
    return this.parts?.includes("source") ? { colour: "level" } : {};
  }
}
