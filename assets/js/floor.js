/** One floor of the tower: switch, handle, letter, T, cost, caches and, folded away, rule, policy and order. */

import { depthRow, draftRow, missRow } from "./depth.js";
import { h, icon, say } from "./dom.js";
import { grammar, heeds, usualOf } from "./kinds.js";
import { counts, variants } from "./stack.js";
import { FLOOR } from "./words/tower.js";

/**
 * @returns {{el: HTMLElement, plan: (words: string|null, rests: boolean) => void,
 *   update: (figures: {ms_per_call?: number|null}|null, kv: object|null, longest: number) => void}}
 */
export function floorOf(level, at) {
  const ms = h("span", {
    class: "hx-ms",
    text: "– ms",
    tabindex: "0",
    "data-tip": FLOOR.callTip,
  });
  const kv = kvBar();
  const details = at.fixed || (at.bottom && at.top) ? null : more(level, at);
  const note = h("small", { text: at.top ? FLOOR.signs(at.info.note) : at.info.note });
  const own = note.textContent;
  const row = h(
    "div",
    { class: "hx-floor-row" },
    at.top || at.fixed ? h("span", { class: "hx-grip-gap" }) : grip(at),
    h("span", { class: "hx-tag", text: at.look.tag, "aria-hidden": "true" }),
    name(level, at, note),
    at.top ? h("span") : at.fixed ? blockLength(at) : stepper(level, at),
    ms,
    at.top || at.fixed ? h("span", { class: "hx-switch-gap" }) : toggle(level, at),
    details ? details.button : h("span", { class: "hx-more-gap" }),
  );
  const el = h(
    "li",
    {
      class: `hx-floor${at.top ? " hx-floor-top" : ""}${level.on ? "" : " hx-off"}${at.reason ? " hx-bad" : ""}`,
      style: { "--hue": at.look.hue },
      "data-position": at.position,
    },
    h(
      "div",
      { class: "hx-floor-card" },
      row,
      kv.el,
      ...(at.fixed ? [] : asked(level, at)),
      at.reason ? h("p", { class: "hx-floor-reason", text: at.reason }) : null,
      details?.panel,
    ),
  );
  return {
    el,
    update(figures, lengths, longest) {
      say(ms, figures?.ms_per_call == null ? "– ms" : `${brief(figures.ms_per_call)} ms`);
      kv.update(lengths, longest);
    },
    /** What the plan of the shown round makes of this level, in words; null without plans. */
    plan(words, rests) {
      say(note, words ?? own);
      el.classList.toggle("hx-resting", rests);
    },
  };
}

/** What this kind of level is asked for beside T. */
function asked(level, at) {
  if (heeds(level.name, "at") && at.depth) return [depthRow(level, at)];
  return heeds(level.name, "id") && at.drafts.length ? [draftRow(level, at)] : [];
}

function name(level, at, note) {
  return h(
    "span",
    {
      class: "hx-floor-name",
      tabindex: "-1",
      title: [`${at.info.label} (${at.info.kind})`, at.share, at.info.eager].filter(Boolean).join(": "),
    },
    h("b", { text: at.info.label }),
    note,
  );
}

function toggle(level, at) {
  return h("input", {
    type: "checkbox",
    role: "switch",
    class: "hx-switch",
    checked: level.on,
    "data-key": `on-${at.position}`,
    "aria-label": FLOOR.inStack(at.info.label),
    onchange: (event) => {
      level.on = event.target.checked;
      at.onEdit();
    },
  });
}

function blockLength(at) {
  return h("span", { class: "hx-ms", text: `T = ${at.info.block}`, "data-tip": FLOOR.block });
}

/** A tree cut to so many depths, or with one offer behind each token at the depths that it lacks. */
function deepened(tree, depth) {
  const widths = tree.split(".");
  return [...widths, ...Array(depth).fill("1")].slice(0, depth).join(".");
}

function stepper(level, at) {
  const set = (value) => {
    level.block = Math.min(grammar.block.high, Math.max(grammar.block.low, Math.round(value) || 1));
    if (level.options.tree) level.options.tree = deepened(level.options.tree, level.block);
    at.onEdit();
  };
  const value = at.info.block;
  const label = FLOOR.blockOf(at.info.label);
  return h(
    "span",
    { class: "hx-stepper", "data-tip": FLOOR.block, "data-said": `T = ${value}` },
    h("button", {
      type: "button",
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
      maxlength: "2",
      onchange: (event) => set(+event.target.value),
      onkeydown: (event) => {
        const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
        if (step) {
          event.preventDefault();
          set(+event.target.value + step);
        }
      },
    }),
    h("button", {
      type: "button",
      text: "+",
      "aria-label": FLOOR.more(label),
      "data-key": `more-${at.position}`,
      disabled: value >= grammar.block.high,
      onclick: () => set(value + 1),
    }),
  );
}

function grip(at) {
  return h(
    "button",
    {
      type: "button",
      class: "hx-grip",
      "aria-label": FLOOR.move(at.info.label, at.position + 1, at.levels),
      "data-key": `grip-${at.position}`,
      "data-tip": FLOOR.moveTip,
      onkeydown: (event) => {
        const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
        if (step) {
          event.preventDefault();
          at.onMove(step);
        }
      },
    },
    icon("grip"),
  );
}

function more(level, at) {
  const panel = h("div", { class: "hx-floor-more" });
  panel.hidden = !at.open;
  const button = h(
    "button",
    {
      type: "button",
      class: "hx-icon-button",
      "aria-label": FLOOR.details(at.info.label),
      "aria-expanded": String(at.open),
      "data-key": `details-${at.position}`,
      onclick: () => {
        panel.hidden = !panel.hidden;
        button.setAttribute("aria-expanded", String(!panel.hidden));
        at.onOpen(!panel.hidden);
      },
    },
    icon("down"),
  );
  if (heeds(level.name, "at")) panel.append(draftRow(level, at));
  if (heeds(level.name, "miss") && at.drafts.length) panel.append(missRow(level, at));
  panel.append(...controls(level, at));
  if (!at.top) {
    panel.append(
      h(
        "div",
        { class: "hx-floor-order" },
        h(
          "button",
          { type: "button", class: "hx-quiet", "data-key": `up-${at.position}`, onclick: () => at.onMove(1) },
          icon("up"),
          FLOOR.up,
        ),
        h(
          "button",
          {
            type: "button",
            class: "hx-quiet",
            "data-key": `down-${at.position}`,
            disabled: at.bottom,
            onclick: () => at.onMove(-1),
          },
          icon("down"),
          FLOOR.down,
        ),
        h("button", { type: "button", class: "hx-quiet", onclick: () => at.onRemove() }, icon("remove"), FLOOR.remove),
      ),
    );
  }
  return { button, panel };
}

/** A control for every key of the level that has one and counts where it stands: how it verifies, then how it drafts. */
function controls(level, at) {
  const names = (grammar.kinds.get(level.name) ?? grammar.kinds.get("model"))?.keys ?? [];
  const keys = names.map((name) => grammar.keys.get(name)).filter((key) => key !== undefined);
  const shown = keys.filter(
    (key) =>
      key.tip &&
      !(at.bottom && key.counts === "verifier") &&
      !(at.top && key.counts === "drafter") &&
      !((at.top || !at.bottom) && key.counts === "bottom") &&
      counts(key.name, level.options),
  );
  const order = ["verifier", "drafter", "bottom", ""];
  return shown
    .sort((a, b) => order.indexOf(a.counts) - order.indexOf(b.counts))
    .map((key) => (MADE[key.type] ?? figure)(key, level, at));
}

function choice({ name: key, words, tip }, level, at) {
  // What makes a level another kind is offered where it can be that one.
  const others = variants().filter(
    (own) => own.key === key && own.name !== level.name && own.value !== level.options[key],
  );
  const names = Object.entries(words).filter(([value]) => !others.some((own) => own.value === value));
  const select = h(
    "select",
    {
      class: "hx-select",
      "data-key": `${key}-${at.position}`,
      onchange: (event) => {
        level.options[key] = event.target.value;
        at.onEdit();
      },
    },
    ...names.map(([value, text]) => h("option", { value, text })),
  );
  select.value = level.options[key] ?? usualOf(level.name, key);
  return h("label", { class: "hx-field", "data-tip": tip }, h("span", { text: key }), select);
}

/** How many tokens are offered behind each token, by depth; T follows. */
function shape({ name: key, words, tip }, level, at) {
  const own = level.options[key] ?? "";
  const names = Object.entries(own in words ? words : { ...words, [own]: own });
  const select = h(
    "select",
    {
      class: "hx-select",
      "data-key": `${key}-${at.position}`,
      onchange: (event) => {
        const { value } = event.target;
        if (value) level.options[key] = value;
        else delete level.options[key];
        if (value) level.block = value.split(".").length;
        at.onEdit();
      },
    },
    ...names.map(([value, text]) => h("option", { value, text })),
  );
  select.value = own;
  return h("label", { class: "hx-field", "data-tip": tip }, h("span", { text: key }), select);
}

/** Whether something is done or not. */
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
  return h("label", { class: "hx-tick", "data-tip": tip }, input, h("span", { text: label }));
}

const MADE = { choice, shape, switch: tick };

/** A number, which may belong to a choice above it. */
function figure({ name: key, label, low: min, high: max, step, tip, tips, when }, level, at) {
  return h(
    "label",
    { class: "hx-field", "data-tip": tips[level.options[when?.[0]]] ?? tip },
    h("span", { text: label }),
    h("input", {
      type: "number",
      min,
      max,
      step,
      class: "hx-input",
      "data-key": `${key}-${at.position}`,
      value: level.options[key] ?? usualOf(level.name, key),
      onchange: (event) => {
        const asked = Math.min(max, Math.max(min, +event.target.value || min));
        level.options[key] = String(step < 1 ? asked : Math.round(asked));
        at.onEdit();
      },
    }),
  );
}

function kvBar() {
  const committed = h("i", { class: "hx-kv-committed" });
  const held = h("i", { class: "hx-kv-held" });
  const el = h(
    "div",
    { class: "hx-kv", role: "img", "aria-label": FLOOR.emptyCache, "data-tip": FLOOR.emptyCacheTip },
    committed,
    held,
  );
  return {
    el,
    update(kv, longest) {
      const known = kv ? Math.min(kv.cached, kv.committed) : 0;
      const tentative = kv ? Math.max(0, kv.cached - kv.committed) : 0;
      committed.style.width = `${(100 * known) / longest}%`;
      held.style.width = `${(100 * tentative) / longest}%`;
      const text = kv ? FLOOR.cache({ known, tentative, behind: kv.catch_up }) : FLOOR.emptyCacheTip;
      if (el.dataset.tip !== text) {
        el.dataset.tip = text;
        el.setAttribute("aria-label", text);
      }
    },
  };
}

/** Three figures are enough: .02, 5.1, 26, 108. */
function brief(value) {
  if (value >= 100) return value.toFixed(0);
  if (value >= 10) return value.toFixed(0);
  if (value >= 1) return value.toFixed(1);
  return value.toFixed(2).replace(/^0/, "");
}
