/** One floor of the tower: switch, handle, letter, T, cost, caches and, folded away, rule, policy and order. */

import { depthRow, draftRow } from "./depth.js";
import { h, icon, say } from "../../../../shared/kit/dom.js";
import { more } from "./floor-more.js";
import { grammar, heeds } from "../../../../shared/levels/kinds.js";
import { typedNumber } from "../../../../shared/levels/typed-number.js";
import { kvBar } from "./kv-bar.js";
import { millis } from "../../../../../text/numbers.js";
import { FLOOR } from "../../../../../text/en/tower.js";

/** @import {KvLength} from "../../../../shared/run/events.js" @import {At, OnFloor} from "./depth.js" */

/** @returns {{el: HTMLElement, plan: (words: string|null, rests: boolean) => void, refuse: (reason: string) => void,
 *    update: (figures: {ms_per_call?: number|null}|null, kv: KvLength|null, longest: number) => void}} */
export function floorOf(/** @type {OnFloor} */ level, /** @type {At} */ at) {
  const ms = h("span.hx-ms", { text: "– ms", tabindex: "0", "data-tip": FLOOR.callTip });
  const kv = kvBar();
  const details = at.fixed || (at.bottom && at.top) ? null : more(level, at);
  const note = h("small", at.top ? FLOOR.signs(at.info.note) : at.info.note);
  const own = note.textContent;
  const row = h("div.hx-floor-row", [
    at.top || at.fixed ? h("span.hx-grip-gap") : grip(at),
    h("span.hx-tag", { text: at.look.tag, "aria-hidden": "true" }),
    name(at, note),
    at.top ? h("span") : at.fixed ? blockLength(at) : stepper(level, at),
    ms,
    at.top || at.fixed ? h("span.hx-switch-gap") : toggle(level, at),
    details ? details.button : h("span.hx-more-gap"),
  ]);
  const el = h(
    "li",
    {
      class: `hx-floor${at.top ? " hx-floor-top" : ""}${level.on ? "" : " hx-off"}`,
      style: { "--hue": at.look.hue },
      "data-position": at.position,
    },
    h("div.hx-floor-card", [row, kv.el, at.fixed ? [] : asked(level, at), details?.panel]),
  );
  const reason = h("p.hx-floor-reason");
  const refuse = (/** @type {string} */ why) => {
    el.classList.toggle("hx-bad", Boolean(why));
    say(reason, why);
    if (!why) reason.remove();
    else if (!reason.parentNode) el.firstElementChild?.insertBefore(reason, details?.panel ?? null);
  };
  refuse(at.reason);
  return {
    el,
    /** Says what speaks against this level; "": nothing. */
    refuse,
    update(figures, lengths, longest) {
      say(ms, figures?.ms_per_call == null ? "– ms" : millis(figures.ms_per_call));
      kv.update(lengths, longest);
    },
    /** What the plan of the shown round makes of this level, in words; null without plans. */
    plan(words, rests) {
      say(note, words ?? own);
      el.classList.toggle("hx-resting", rests);
    },
  };
}

/** What this kind of level is asked for beside T. @param {OnFloor} level @param {At} at */
function asked(level, at) {
  if (heeds(level.name, "at") && at.depth) return [depthRow(level, at)];
  return heeds(level.name, "id") && at.drafts.length ? [draftRow(level, at)] : [];
}

function name(/** @type {At} */ at, /** @type {HTMLElement} */ note) {
  return h(
    "span.hx-floor-name",
    {
      tabindex: "-1",
      title: [`${at.info.label} (${at.info.kind})`, at.share, at.info.eager].filter(Boolean).join(": "),
    },
    [h("b", at.info.label), h("code.hx-floor-code", at.info.written), note],
  );
}

function toggle(/** @type {OnFloor} */ level, /** @type {At} */ at) {
  return h("input.hx-switch", {
    type: "checkbox",
    role: "switch",
    checked: level.on,
    "data-key": `on-${at.position}`,
    "aria-label": FLOOR.inStack(at.info.label),
    onchange: (event) => {
      level.on = event.currentTarget.checked;
      at.onEdit();
    },
  });
}

function blockLength(/** @type {At} */ at) {
  return h("span.hx-ms", { text: `T = ${at.info.block}`, "data-tip": FLOOR.block });
}

/** @type {Record<string, number>} */ const STEPS = { ArrowUp: 1, ArrowDown: -1 };

/** A tree cut to so many depths, or with one offer behind each token at the depths that it lacks. */
function deepened(/** @type {string} */ tree, /** @type {number} */ depth) {
  const widths = tree.split(".");
  return [...widths, ...Array(depth).fill("1")].slice(0, depth).join(".");
}

function stepper(/** @type {OnFloor} */ level, /** @type {At} */ at) {
  const set = (/** @type {number} */ value) => {
    level.block = Math.min(grammar.block.high, Math.max(grammar.block.low, value));
    if (level.options.tree) level.options.tree = deepened(level.options.tree, level.block);
    at.onEdit();
  };
  const value = at.info.block;
  const label = FLOOR.blockOf(at.info.label);
  const typed = (/** @type {HTMLInputElement} */ input) => {
    const { value: asked, said } = typedNumber(input.value, grammar.block, FLOOR.typed(at.info.label));
    if (said) at.onTell(said);
    if (asked === null) input.value = String(value);
    else set(asked);
  };
  return h("span.hx-stepper", { "data-tip": FLOOR.block, "data-said": `T = ${value}` }, [
    h("button", {
      text: "−",
      "aria-label": FLOOR.less(label),
      "data-key": `less-${at.position}`,
      disabled: value <= grammar.block.low,
      onclick: () => set(value - 1),
    }),
    h("input", {
      inputmode: "numeric",
      value: String(value),
      "aria-label": label,
      "data-key": `t-${at.position}`,
      maxlength: "9",
      onchange: (event) => typed(event.currentTarget),
      onkeydown: (event) => {
        const step = STEPS[event.key];
        if (step) {
          event.preventDefault();
          set((Math.round(+event.currentTarget.value) || value) + step);
        }
      },
    }),
    h("button", {
      text: "+",
      "aria-label": FLOOR.more(label),
      "data-key": `more-${at.position}`,
      disabled: value >= grammar.block.high,
      onclick: () => set(value + 1),
    }),
  ]);
}

function grip(/** @type {At} */ at) {
  return h(
    "button.hx-grip",
    {
      "aria-label": FLOOR.move(at.info.label, at.position + 1, at.levels),
      "data-key": `grip-${at.position}`,
      "data-tip": FLOOR.moveTip,
      onkeydown: (event) => {
        const step = STEPS[event.key];
        if (step) {
          event.preventDefault();
          at.onMove(step);
        }
      },
    },
    icon("grip"),
  );
}
