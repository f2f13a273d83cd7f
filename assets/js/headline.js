/** The one big figure: how many times as fast as plain decoding the run is, up to the moment that is shown. Where plain
 *  decoding was not measured, or not yet, tokens/s stand in its place. */

import { plainSpeed } from "./charts.js";
import { h, say } from "./dom.js";

const FORMULA =
  "tokens/s up to this moment / tokens/s of plain decoding of the same target, prompt and seed; both on the engine\u2019s clock, prefill excluded";

export function headline() {
  const value = h("b", { class: "hx-headline-value", text: "\u2013" });
  const unit = h("span", { class: "hx-headline-unit" });
  const against = h("span", { class: "hx-headline-against" });
  const words = h("span", { class: "hx-headline-words" }, unit, against);
  const el = h("p", { class: "hx-headline", tabindex: "0", "data-tip": FORMULA }, value, words);
  return {
    el,
    /** `waiting`: plain decoding is being measured. */
    update(model, cursor, waiting) {
      const now = model.snapshotAt(cursor)?.tokens_per_s ?? null;
      const plain = plainSpeed(model.baseline);
      const made = Boolean(model.header?.simulated);
      if (plain === null) {
        say(value, now === null ? "\u2013" : speed(now));
        say(unit, made ? "simulated tokens/s" : "tokens/s");
        say(against, waiting ? "measuring plain decoding" : alone(model));
        return;
      }
      const ratio = now === null ? null : now / plain;
      say(value, ratio === null ? "\u2013" : `${ratio.toFixed(2)}\u00d7`);
      say(unit, made ? "simulated speed-up" : "as fast as plain decoding");
      say(against, `${now === null ? "\u2013" : speed(now)} against ${speed(plain)} tokens/s`);
    },
  };
}

function alone({ footer, header }) {
  if (header?.levels.length === 1) return "this is plain decoding";
  return footer ? "plain was not measured" : "plain decoding comes after it";
}

const speed = (value) => (value >= 100 ? value.toFixed(0) : value.toFixed(1));
