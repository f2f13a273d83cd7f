/** What is folded away on a floor: a control for every key of its level, then its order in the stack. */

import { draftRow, missRow } from "./depth.js";
import { h, icon } from "../../../../shared/kit/dom.js";
import { grammar, heeds, kindOf, usualOf } from "../../../../shared/levels/kinds.js";
import { typedNumber } from "../../../../shared/levels/typed-number.js";
import { counts, variants } from "../../../../shared/levels/stack.js";
import { FLOOR } from "../../../../../text/en/tower.js";

/** @import {Key} from "../../../../shared/levels/kinds.js" @import {At, OnFloor} from "./depth.js" */

/** The button that unfolds them, and their panel. @param {OnFloor} level @param {At} at */
export function more(level, at) {
  const panel = h("div.hx-floor-more");
  panel.hidden = !at.open;
  const button = h(
    "button.hx-icon-button",
    {
      "aria-label": FLOOR.details(at.info.label),
      "aria-expanded": String(at.open),
      "data-key": `details-${at.position}`,
      onclick: () => {
        panel.hidden = !panel.hidden;
        button.setAttribute("aria-expanded", String(!panel.hidden));
        at.onOpen(!panel.hidden);
        if (!panel.hidden) panel.scrollIntoView({ block: "nearest" }); // its floor may stand at the edge of the tower
      },
    },
    icon("down"),
  );
  if (heeds(level.name, "at")) panel.append(draftRow(level, at));
  if (heeds(level.name, "miss") && at.drafts.length) panel.append(missRow(level, at));
  panel.append(...controls(level, at));
  if (!at.top) {
    panel.append(
      h("div.hx-floor-order", [
        h("button.hx-quiet", { "data-key": `up-${at.position}`, onclick: () => at.onMove(1) }, [icon("up"), FLOOR.up]),
        h("button.hx-quiet", { "data-key": `down-${at.position}`, disabled: at.bottom, onclick: () => at.onMove(-1) }, [
          icon("down"),
          FLOOR.down,
        ]),
        h("button.hx-quiet", { onclick: () => at.onRemove() }, [icon("remove"), FLOOR.remove]),
      ]),
    );
  }
  return { button, panel };
}

/** A control for every key of the level that has one and counts where it stands: how it verifies, then how it drafts. */
function controls(/** @type {OnFloor} */ level, /** @type {At} */ at) {
  const names = kindOf(level.name)?.keys ?? [];
  const keys = names.map((name) => grammar.keys.get(name)).filter((key) => key !== undefined);
  const shown = keys.filter(
    (key) =>
      key.tip &&
      !(at.bottom && key.counts === "verifier" && !(key.inner?.length && level.options[key.name])) &&
      !(at.top && key.counts === "drafter") &&
      !((at.top || !at.bottom) && key.counts === "bottom") &&
      // One that is set and cannot work where the level stands now can be taken back there.
      !((!at.top || at.bottom) && key.counts === "topmost" && !level.options[key.name]) &&
      counts(key.name, level.options, level.name),
  );
  const order = ["verifier", "topmost", "drafter", "bottom", ""];
  return shown
    .sort((a, b) => order.indexOf(a.counts) - order.indexOf(b.counts))
    .map((key) => (MADE[key.type] ?? figure)(key, level, at));
}

/** @param {Key} key @param {OnFloor} level @param {At} at */
function choice({ name: key, label, words, tip, inner = [] }, level, at) {
  // What makes a level another kind is offered where it can be that one.
  const others = variants().filter(
    (own) => own.key === key && own.name !== level.name && own.value !== level.options[key],
  );
  /** @param {string} value */
  const here = (value) => at.top || !inner.length || inner.includes(value) || value === level.options[key];
  const names = Object.entries(words).filter(([value]) => here(value) && !others.some((own) => own.value === value));
  const select = h(
    "select.hx-select",
    {
      "data-key": `${key}-${at.position}`,
      onchange: (event) => {
        level.options[key] = event.currentTarget.value;
        at.onEdit();
      },
    },
    names.map(([value, text]) => h("option", { value, text })),
  );
  select.value = level.options[key] ?? usualOf(level.name, key) ?? "";
  return h("label.hx-field", { "data-tip": tip }, [h("span", label), select]);
}

/** How many tokens are offered behind each token, by depth, and T follows; or what another key says instead. */
function shape(/** @type {Key} */ { name: key, label, tip }, /** @type {OnFloor} */ level, /** @type {At} */ at) {
  const keys = [...grammar.keys.values()].filter((one) => one.name === key || one.instead === key);
  const names = keys.flatMap(({ name, words }) => {
    const own = level.options[name];
    const all = !own || own in words ? words : { ...words, [own]: name === key ? own : FLOOR.upTo(own) };
    return Object.entries(all).map(([value, text]) => ({ name, value, text }));
  });
  const select = h(
    "select.hx-select",
    {
      "data-key": `${key}-${at.position}`,
      onchange: () => {
        for (const { name } of keys) delete level.options[name];
        const { name, value } = names[select.selectedIndex];
        if (value) level.options[name] = value;
        if (value && name === key) level.block = value.split(".").length;
        at.onEdit();
      },
    },
    names.map(({ name, value, text }) => h("option", { value: name === key ? value : `${name}=${value}`, text })),
  );
  select.selectedIndex = names.findIndex(({ name, value }) => value && level.options[name] === value);
  if (select.selectedIndex < 0) select.value = "";
  return h("label.hx-field", { "data-tip": tip }, [h("span", label), select]);
}

/** Whether something is done or not. @param {Key} key @param {OnFloor} level @param {At} at */
function tick({ name: key, label, tip }, level, at) {
  const input = h("input", {
    type: "checkbox",
    "data-key": `${key}-${at.position}`,
    checked: Number(level.options[key] ?? usualOf(level.name, key)) > 0,
    onchange: () => {
      level.options[key] = String(+input.checked);
      at.onEdit();
    },
  });
  return h("label.hx-tick", { "data-tip": tip }, [input, h("span", label)]);
}

/** @type {Record<string, typeof figure>} */ const MADE = { choice, shape, switch: tick };

/** A number, which may belong to a choice above it. @param {Key} key @param {OnFloor} level @param {At} at */
function figure({ name: key, label, low: min, high: max, step, tip, tips, when }, level, at) {
  return h("label.hx-field", { "data-tip": tips[level.options[when?.[0] ?? ""]] ?? tip }, [
    h("span", label),
    h("input.hx-input", {
      type: "number",
      min,
      max,
      step,
      "data-key": `${key}-${at.position}`,
      value: level.options[key] ?? usualOf(level.name, key, level.options),
      onchange: (event) => {
        const { value, said } = typedNumber(event.currentTarget.value, { low: min, high: max, step }, label);
        if (said) at.onTell(said);
        if (value === null) event.currentTarget.value = event.currentTarget.defaultValue;
        else level.options[key] = String(value);
        at.onEdit();
      },
    }),
  ]);
}
