/** The sliders: longest block, rejections, one level's cost, and which levels a plan may use. */

import { h } from "../kit/dom.js";
import { levelBadge } from "../levels/badge.js";
import { WHATIF } from "../words/tabs/planner.js";

/** Turned by the sliders; what a profile starts with. */
export const still = (profile) => ({
  max_block: profile.max_block ?? 16,
  rejections: 1,
  cost: { level: profile.levels.at(-2)?.name ?? profile.levels[0].name, factor: 1 },
  levels: profile.levels.map(() => true),
});

/**
 * @param {{limits: Record<string, number[]>, onTurn: () => void, onRest: () => void}} ctx
 * @returns {{el: HTMLElement, show: (profile, turned, styles) => void}}
 */
export function whatIf(ctx) {
  let rest = WHATIF.measured;
  const el = h("section", { class: "hx-panel hx-plan-whatif", "aria-label": WHATIF.label });
  let names = "";

  function show(profile, turned, styles) {
    const now = JSON.stringify(profile.levels.map((level) => level.name));
    if (names === now && el.turned === turned) return;
    names = now;
    rest = profile.about?.simulated ? WHATIF.assumed : WHATIF.measured;
    el.turned = turned;
    el.replaceChildren(
      slider({
        label: WHATIF.block,
        low: ctx.limits.max_block[0],
        high: ctx.limits.max_block[1],
        step: 1,
        value: turned.max_block,
        say: WHATIF.tokens,
        turn: (v) => {
          turned.max_block = v;
        },
      }),
      slider({
        label: WHATIF.rejections,
        tip: WHATIF.rejectionsTip,
        low: 0,
        high: 3,
        step: 0.05,
        value: turned.rejections,
        say: (v) => (v === 1 ? rest : `× ${v.toFixed(2)}`),
        turn: (v) => {
          turned.rejections = v;
        },
      }),
      costSlider(profile, turned),
      allowed(profile, turned, styles),
      h(
        "div",
        { class: "hx-plan-foot" },
        h("button", {
          type: "button",
          class: "hx-quiet hx-plan-still",
          text: WHATIF.rest,
          "aria-label": WHATIF.restLabel,
          onclick: () => {
            ctx.onRest();
            el.querySelector(".hx-plan-still").focus();
          },
        }),
      ),
    );
  }

  function slider({ label, tip = "", low, high, step, value, say, turn, extra = null }) {
    const out = h("output", { class: "hx-plan-value", text: say(value) });
    const input = h("input", {
      type: "range",
      min: low,
      max: high,
      step,
      value,
      "aria-label": label,
      "aria-valuetext": say(value),
      oninput: () => {
        const number = Number(input.value);
        out.textContent = say(number);
        input.setAttribute("aria-valuetext", say(number));
        turn(number);
        ctx.onTurn();
      },
    });
    return h(
      "div",
      { class: "hx-plan-slider", "data-tip": tip || null },
      h("div", { class: "hx-plan-slider-head" }, h("span", { text: label }), extra, out),
      input,
    );
  }

  /** The factor on a logarithm: a third and three times are equally far from rest. */
  function costSlider(profile, turned) {
    const pick = h(
      "select",
      {
        class: "hx-select hx-plan-pick",
        "aria-label": WHATIF.costLevel,
        onchange: () => {
          turned.cost.level = pick.value;
          ctx.onTurn();
        },
      },
      ...profile.levels.map((level) => h("option", { value: level.name, text: level.name })),
    );
    pick.value = turned.cost.level;
    const factor = (v) => 10 ** v;
    return slider({
      label: WHATIF.costOf,
      extra: pick,
      low: -1,
      high: 1,
      step: 0.02,
      value: Math.log10(turned.cost.factor),
      say: (v) => (Math.abs(v) < 0.001 ? rest : `× ${factor(v).toFixed(2)}`),
      turn: (v) => {
        turned.cost.factor = factor(v);
      },
    });
  }

  function allowed(profile, turned, styles) {
    const top = profile.levels.length - 1;
    return h(
      "fieldset",
      { class: "hx-plan-allowed" },
      h("legend", { text: WHATIF.levels }),
      ...profile.levels.map((level, i) =>
        h(
          "label",
          { class: "hx-tick", "data-tip": i === top ? WHATIF.targetTip : null },
          h("input", {
            type: "checkbox",
            checked: turned.levels[i],
            disabled: i === top,
            onchange: (event) => {
              turned.levels[i] = event.target.checked;
              ctx.onTurn();
            },
          }),
          levelBadge(styles[i]),
          h("span", { text: level.name }),
        ),
      ),
    );
  }

  return { el, show };
}
