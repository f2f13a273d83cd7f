/** The stacks that may race: plain decoding, the preset's own ones, and the one that is composed on Explore. */

import { h } from "../../shared/kit/dom.js";
import { stackNames } from "../../shared/levels/stack-names.js";
import { LIVE } from "./words/race.js";

/** @typedef {{title: string, stack: string, note: string}} Choice */

/**
 * Of a preset, each stack once: plain decoding first.
 * @param {any} preset @param {string} search of the address, which holds what Explore composes
 * @returns {Choice[]}
 */
export function choices(preset, search) {
  const query = new URLSearchParams(search);
  const composed = query.get("preset") && query.get("preset") !== preset.name ? "" : (query.get("stack") ?? "");
  const own = preset.stacks.filter((/** @type {any} */ one) => !one.replan);
  const target = (/** @type {string} */ stack) =>
    stack
      .split(",")
      .at(-1)
      ?.replace(/@(?!dtype|device|id)\w+=[^@,]*/g, "") ?? "";
  const plain = own.find((/** @type {any} */ one) => !one.stack.includes(",")) ?? {
    title: LIVE.plainTitle,
    stack: target(preset.default_stack),
    note: LIVE.plainNote,
  };
  const all = [
    plain,
    { title: LIVE.own, stack: preset.default_stack, note: LIVE.ownNote },
    ...(composed ? [{ title: LIVE.fromPlay, stack: composed, note: LIVE.fromPlayNote }] : []),
    ...own,
  ];
  /** @type {Map<string, Choice>} */
  const found = new Map();
  for (const one of all) {
    const known = found.get(one.stack);
    // The preset's own stack keeps that place, under the name that it has among the examples.
    found.set(one.stack, known && known !== plain && known.title === LIVE.own ? one : (known ?? one));
  }
  return [...found.values()];
}

/**
 * @param {[number, number]} limits of how many @param {() => void} onChange
 */
export function stackPicker([, most], onChange) {
  /** @type {Choice[]} */ let offered = [];
  /** @type {Set<string>} */ let on = new Set();
  let open = true;
  const el = h("ul", { class: "hx-race-picker" });

  function draw() {
    for (const item of el.children) {
      const box = /** @type {HTMLInputElement} */ (item.querySelector("input"));
      box.checked = on.has(box.value);
      const full = !box.checked && on.size >= most;
      box.disabled = !open || full;
      /** @type {HTMLElement} */ (item).title = full ? LIVE.tooMany(most) : "";
    }
  }

  return {
    el,
    /** @param {Choice[]} list */
    offer(list) {
      offered = list;
      const kept = [...on].filter((stack) => list.some((one) => one.stack === stack));
      on = new Set(kept.length ? kept : list.slice(0, 2).map((one) => one.stack));
      const names = stackNames(list.map((one) => one.stack));
      el.replaceChildren(
        ...list.map(({ title, stack, note }) =>
          h(
            "li",
            {},
            h(
              "label",
              { class: "hx-race-choice" },
              h("input", {
                type: "checkbox",
                value: stack,
                onchange: (/** @type {any} */ event) => {
                  event.target.checked ? on.add(stack) : on.delete(stack);
                  draw();
                  onChange();
                },
              }),
              h("b", { text: title }),
              h("span", { class: "hx-race-choice-name", text: names.get(stack), title: stack }),
              h("span", { text: note }),
            ),
          ),
        ),
      );
      draw();
    },
    /** In the order of the list: plain decoding, where it is chosen, comes first. */
    chosen: () => offered.filter((one) => on.has(one.stack)).map((one) => one.stack),
    names: () => offered.filter((one) => on.has(one.stack)).map((one) => one.title),
    /** @param {boolean} yes */
    enable(yes) {
      open = yes;
      draw();
    },
  };
}
