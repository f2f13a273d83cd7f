/** The sliders: longest block, rejections, one level's cost, and which levels a plan may use. */

import { h } from "../../shared/kit/dom.js";
import { levelBadge } from "../../shared/levels/badge.js";
import { nearestStop } from "./another/curve.js";
import { still } from "./link.js";
import { WHATIF } from "../../../text/en/experts.js";

/** @import {Look} from "../../shared/levels/kinds.js" @import {Turned} from "./ahead/plans-ahead.js"
 *  @import {Profile} from "./profile/profile.js" */

/** @typedef {{label: string, extra?: HTMLElement, tip?: string, low: number, high: number, step: number, say: (v: number) => string,
 *    value: () => number, turn: (v: number) => void}} Slider
 *  @param {{limits: Record<string, number[]>, onTurn: () => void, onRest: () => void}} ctx
 *  @returns {{el: HTMLElement, show: (profile: Profile, turned: Turned, styles: Look[], stops?: Record<string, number[]>) => void}} stops: where sliders
 *    stop whose answers were worked out ahead; what is turned then is turned alone */
export function whatIf(ctx) {
  let rest = WHATIF.measured;
  const el = h("section.hx-panel.hx-plan-whatif", { "aria-label": WHATIF.label });
  let names = "";
  /** @type {Turned|null} */ let shown = null;

  /** @type {Record<string, number[]>|undefined} */ let stops;
  /** @type {(() => void)[]} */ let settle = []; // each control to what is turned

  /** @param {Profile} profile @param {Turned} turned @param {Look[]} styles @param {Record<string, number[]>} [given] */
  function show(profile, turned, styles, given) {
    const now = JSON.stringify(profile.levels.map((level) => level.name));
    if (names === now && shown === turned) return;
    names = now;
    rest = profile.about?.simulated ? WHATIF.assumed : WHATIF.measured;
    shown = turned;
    stops = given;
    settle = [];
    el.replaceChildren(
      slider(profile, turned, "max_block", {
        label: WHATIF.block,
        low: ctx.limits.max_block[0],
        high: ctx.limits.max_block[1],
        step: 1,
        say: WHATIF.tokens,
        value: () => turned.max_block,
        turn: (v) => {
          turned.max_block = v;
        },
      }),
      slider(profile, turned, "rejections", {
        label: WHATIF.rejections,
        tip: WHATIF.rejectionsTip,
        low: 0,
        high: 3,
        step: 0.05,
        say: (v) => (v === 1 ? rest : `× ${v.toFixed(2)}`),
        value: () => turned.rejections,
        turn: (v) => {
          turned.rejections = v;
        },
      }),
      costSlider(profile, turned),
      allowed(profile, turned, styles),
      h("div.hx-plan-foot", [
        h("button.hx-quiet.hx-plan-still", {
          text: WHATIF.rest,
          "aria-label": WHATIF.restLabel,
          onclick: () => {
            ctx.onRest();
            /** @type {HTMLElement|null} */ (el.querySelector(".hx-plan-still"))?.focus();
          },
        }),
      ]),
    );
  }

  /** What was turned is turned, and where answers were worked out ahead, everything else is at rest.
   *  @param {Profile} profile @param {Turned} turned @param {() => void} turn */
  function heard(profile, turned, turn) {
    if (stops) {
      const { cost, ...others } = still(profile);
      Object.assign(turned, others, { cost: { ...cost, level: turned.cost.level } });
    }
    turn();
    for (const one of settle) one();
    ctx.onTurn();
  }

  /** A slider over numbers, or over the stops that its part has.
   *  @param {Profile} profile @param {Turned} turned @param {string} part @param {Slider} control */
  function slider(profile, turned, part, { label, tip = "", low, high, step, value, say, turn, extra }) {
    const only = stops?.[part];
    const out = h("output.hx-plan-value");
    const input = h("input", {
      type: "range",
      min: only ? 0 : low,
      max: only ? only.length - 1 : high,
      step: only ? 1 : step,
      "aria-label": label,
      oninput: () => {
        const number = Number(input.value);
        heard(profile, turned, () => turn(only ? only[number] : number));
      },
    });
    const stand = () => {
      const number = only ? nearestStop(only, value()) : value();
      if (Number(input.value) !== number) input.value = String(number);
      const text = say(value());
      out.textContent = text;
      input.setAttribute("aria-valuetext", text);
    };
    stand();
    settle.push(stand);
    return h("div.hx-plan-slider", { "data-tip": tip || null }, [
      h("div.hx-plan-slider-head", [h("span", label), extra, out]),
      input,
    ]);
  }

  /** The factor on a logarithm: a third and three times are equally far from rest. */
  function costSlider(/** @type {Profile} */ profile, /** @type {Turned} */ turned) {
    const pick = h(
      "select.hx-select.hx-plan-pick",
      {
        "aria-label": WHATIF.costLevel,
        onchange: () => {
          turned.cost.level = pick.value;
          ctx.onTurn();
        },
      },
      profile.levels.map((level) => h("option", { value: level.name, text: level.name })),
    );
    pick.value = turned.cost.level;
    const own = (/** @type {number} */ v) => v;
    const [to, from] = stops ? [own, own] : [(/** @type {number} */ v) => 10 ** v, Math.log10]; // stops are factors
    return slider(profile, turned, "cost", {
      label: WHATIF.costOf,
      extra: pick,
      low: -1,
      high: 1,
      step: 0.02,
      say: (v) => (Math.abs(Math.log10(to(v))) < 0.001 ? rest : `× ${to(v).toFixed(2)}`),
      value: () => from(turned.cost.factor),
      turn: (v) => {
        turned.cost = { level: pick.value, factor: to(v) };
      },
    });
  }

  function allowed(/** @type {Profile} */ profile, /** @type {Turned} */ turned, /** @type {Look[]} */ styles) {
    const top = profile.levels.length - 1;
    const box = h("fieldset.hx-plan-allowed", [
      h("legend", WHATIF.levels),
      profile.levels.map((_, i) =>
        h("label.hx-tick", { "data-tip": i === top ? WHATIF.targetTip : null }, [
          h("input", {
            type: "checkbox",
            checked: turned.levels[i],
            disabled: i === top,
            onchange: (event) => {
              const { checked } = event.currentTarget;
              heard(profile, turned, () => {
                turned.levels[i] = checked;
              });
            },
          }),
          levelBadge(styles[i]),
          h("span", styles[i].name),
        ]),
      ),
    ]);
    const ticks = [...box.querySelectorAll("input")];
    settle.push(() => {
      for (const [i, tick] of ticks.entries()) tick.checked = turned.levels[i];
    });
    return box;
  }

  return { el, show };
}
