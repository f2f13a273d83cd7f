/** The line of figures below the lanes: each with its unit, its formula and its source. */

import { plainSpeed } from "./charts.js";
import { h, say } from "./dom.js";

const FIGURES = [
  ["speed", "tokens/s", "committed / decode time on the engine's clock, prefill excluded"],
  ["plain", "plain", "tokens/s of plain decoding of the same target, prompt and seed, measured in the same run"],
  ["ratio", "speed-up", "tokens/s of this run / tokens/s of plain decoding, both measured"],
  ["forward", "tokens per target pass", "committed / forwards of the target, corrections and bonus tokens included"],
  ["kept", "of drafts kept", "committed tokens drafted at the bottom / tokens drafted at the bottom"],
  [
    "layers",
    "layers per token",
    "layers read by the levels that share the target\u2019s weights / committed; plain decoding reads all of them for each. A draft\u2019s own few layers are not counted",
  ],
  ["first", "to the first token", "prefill and first round, on the engine's clock"],
  [
    "equal",
    "as plain decoding",
    "greedy: leading ids that agree with plain decoding's, of all; sampled runs agree in law only",
  ],
];

const KNEW = "below: every layer\u2019s probability of every token of this text";
const NOT_MEASURED =
  "not measured in this run: tick \u201cmeasure depths after the run\u201d in the settings and generate again";

/**
 * @param {{onDepths: () => void, onTell: (text: string) => void}} ctx
 * @returns {{el: HTMLElement, update: (model, cursor, waiting: boolean) => void}}
 */
export function tallyLine(ctx) {
  const slots = {};
  const list = h("dl", { class: "hx-figures" });
  const knew = h("button", {
    type: "button",
    class: "hx-quiet hx-knew",
    text: "At which layer did the model know?",
    "data-tip": NOT_MEASURED,
    onclick: () =>
      knew.hasAttribute("aria-disabled") ? ctx.onTell(`The depths were ${NOT_MEASURED}.`) : ctx.onDepths(),
  });
  const el = h("div", { class: "hx-tally" }, list, knew);
  const tips = new Map();
  const made = h(
    "div",
    { class: "hx-figure-made", tabindex: "0", hidden: true },
    h("dd", { text: "simulated" }),
    h("dt", { text: "no model ran" }),
  );
  list.append(made);
  for (const [key, name, tip] of FIGURES) {
    const value = h("dd", { text: "–" });
    const slot = h(
      "div",
      { class: `hx-figure-${key}`, tabindex: "0", "data-tip": tip },
      value,
      h("dt", { text: name }),
    );
    list.append(slot);
    tips.set(slot, tip);
    slots[key] = value;
  }
  /** A simulated run says so before its figures, and in each of them. */
  function madeUp(why) {
    if (made.hidden === !why && (made.dataset.tip ?? "") === why) return;
    made.hidden = !why;
    slots.equal.parentElement.hidden = Boolean(why); // every level says the same passage: it could not differ
    made.dataset.tip = why;
    for (const [slot, tip] of tips)
      slot.dataset.tip = why ? `simulated: ${tip.replaceAll("measured", "simulated")}` : tip;
  }

  return {
    el,
    update(model, cursor, waiting) {
      const s = model?.snapshotAt(cursor);
      const plain = plainSpeed(model?.baseline);
      const whole = model && cursor >= (model.commitTimes.at(-1) ?? Infinity);
      say(slots.speed, s?.tokens_per_s == null ? "–" : one(s.tokens_per_s));
      say(slots.plain, plain === null ? (waiting ? "measuring…" : "–") : one(plain));
      say(slots.ratio, whole && plain && s?.tokens_per_s ? `${(s.tokens_per_s / plain).toFixed(2)}×` : "–");
      say(slots.forward, s?.tokens_per_target_forward == null ? "–" : s.tokens_per_target_forward.toFixed(1));
      say(slots.kept, s?.drafts_kept == null ? "–" : `${Math.round(100 * s.drafts_kept)} %`);
      const read = s?.layers_per_token ?? null;
      slots.layers.parentElement.hidden = read === null;
      say(
        slots.layers,
        read === null ? "\u2013" : one(read) + (model.levels.at(-1).layers ? ` of ${model.levels.at(-1).layers}` : ""),
      );
      say(
        slots.first,
        s?.ttft_ms == null
          ? "–"
          : s.ttft_ms >= 1000
            ? `${(s.ttft_ms / 1000).toFixed(1)} s`
            : `${Math.round(s.ttft_ms)} ms`,
      );
      say(slots.equal, whole ? agreement(model) : "–");
      knew.hidden = !model?.header || Boolean(model.header.simulated);
      madeUp(model?.header?.simulated ?? "");
      knew.dataset.tip = model?.depths ? KNEW : NOT_MEASURED;
      if (model?.depths) knew.removeAttribute("aria-disabled");
      else knew.setAttribute("aria-disabled", "true");
    },
  };
}

/**
 * "96 / 96"; at a first difference also plain decoding's top-two margin there, which says whether it was a near tie.
 */
function agreement(model) {
  const { baseline, header, committed } = model;
  const { temperature, top_k } = header?.sampling ?? {};
  if (!baseline || (temperature > 0 && top_k !== 1)) return "–";
  const equal = `${baseline.equal} / ${committed.length}`;
  return baseline.diverges ? `${equal} (margin ${baseline.margin?.toPrecision(2) ?? "unknown"})` : `${equal} equal`;
}

const one = (value) => (value >= 100 ? value.toFixed(0) : value.toFixed(1));
