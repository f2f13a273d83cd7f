/** What an exit and a draft model are asked for on their floor: the depth, on a slider, and which trained draft. */

import { h, say } from "../../../../shared/kit/dom.js";
import { grammar, heeds, kindOf } from "../../../../shared/levels/kinds.js";
import { DEPTH } from "../../../../../text/en/tower.js";

/** @import {Look} from "../../../../shared/levels/kinds.js"
 *  @import {Draft, Entry, Level} from "../../../../shared/levels/stack.js" */

/** @typedef {Level & {on: boolean}} OnFloor
 *  @typedef {{kind: string, name: string, label: string, block: number, written: string, note: string, eager?: string}} Info what a floor says of its level
 *  @typedef {{position: number, levels: number, fixed: boolean, top: boolean, bottom: boolean, look: Look, info: Info,
 *    reason: string, open: boolean, depth: Entry["depth"]|null, drafts: Draft[], share: string,
 *    onEdit: () => void, onTell: (text: string) => void, onPreview: () => void, onMove: (step: number) => void, onRemove: () => void,
 *    onOpen: (open: boolean) => void}} At where a floor stands, and whom it tells */

/** The slider of an exit: after how many layers it reads. Ticks stand where a trained draft exists. */
export function depthRow(/** @type {OnFloor} */ level, /** @type {At} */ at) {
  const { min = 1, max = 1, trained = [], default: usual } = at.depth ?? {};
  const value = Math.min(max, Math.max(min, +level.options.at || usual || min));
  const place = (/** @type {number} */ depth) => (max > min ? (depth - min) / (max - min) : 0);
  const words = h("b.hx-depth-value");
  const how = h("small.hx-depth-how");
  const input = h("input.hx-depth-slider", {
    type: "range",
    min,
    max,
    step: 1,
    value,
    "data-key": `depth-${at.position}`,
    "aria-label": DEPTH.label(kindOf(at.info.kind).title, max + 1),
    oninput: () => {
      set(+input.value);
      at.onPreview();
    },
    onchange: () => at.onEdit(),
  });
  const ticks = trained.map((depth) => h("i.hx-depth-tick", { style: { "--at": place(depth) } }));
  const set = (/** @type {number} */ depth) => {
    if (String(depth) !== level.options.at) reread(level, at.drafts, depth);
    level.options.at = String(depth);
    show(depth);
  };
  const show = (/** @type {number} */ depth) => {
    say(words, DEPTH.of(depth, max + 1));
    input.style.setProperty("--done", `${100 * place(depth)}%`);
    const text = reading(level, at, depth);
    say(how, text);
    input.setAttribute("aria-valuetext", DEPTH.said(depth, max + 1, text));
  };
  show(value);
  const tip = trained.length ? DEPTH.dragTrained(trained) : DEPTH.drag;
  return h("div.hx-depth", { "data-tip": tip }, [
    h("span", DEPTH.at),
    h("span.hx-depth-track", [input, h("span.hx-depth-ticks", { "aria-hidden": "true" }, ticks)]),
    words,
    how,
  ]);
}

/** Which trained draft a level uses. An exit may also be read through the model's own norm and head. */
export function draftRow(/** @type {OnFloor} */ level, /** @type {At} */ at) {
  const exit = heeds(level.name, "at");
  const here = exit
    ? at.drafts.filter((draft) => draft.at === undefined || String(draft.at) === level.options.at)
    : at.drafts;
  const options = here.map((draft) => {
    const title = draft.title || draft.name;
    return [draft.name, draft.fed && !at.bottom ? DEPTH.slow(title) : title];
  });
  if (exit) options.unshift(["", DEPTH.whereTrained], ["lens", DEPTH.lens]);
  const known = options.some(([name]) => name === (level.options.id ?? ""));
  if (!known) options.push([level.options.id ?? "", level.options.id || DEPTH.own]);
  const select = h(
    "select.hx-select",
    {
      "data-key": `draft-${at.position}`,
      "aria-label": DEPTH.draftOf(at.info.label),
      onchange: () => {
        if (select.value) level.options.id = select.value;
        else delete level.options.id;
        at.onEdit();
      },
    },
    options.map(([value, text]) => h("option", { value, text })),
  );
  select.value = level.options.id ?? "";
  return h("label.hx-field.hx-draft-pick", { "data-tip": exit ? DEPTH.readTip : DEPTH.draftTip }, [
    h("span", exit ? DEPTH.read : DEPTH.draft),
    select,
  ]);
}

/** What drafts where an n-gram level finds nothing. @param {OnFloor} level @param {At} at */
export function missRow(level, at) {
  const options = [
    ["", DEPTH.noMiss],
    ...at.drafts.map((draft) => [draft.name, draft.title ? `${draft.name}: ${draft.title}` : draft.name]),
  ];
  const given = grammar.kinds.has(level.options.miss) ? at.drafts[0]?.name : level.options.miss;
  if (given && !options.some(([name]) => name === given)) options.push([given, given]);
  const select = h(
    "select.hx-select",
    {
      "data-key": `miss-${at.position}`,
      "aria-label": DEPTH.missOf(at.info.label),
      onchange: () => {
        if (select.value) level.options.miss = select.value;
        else delete level.options.miss;
        at.onEdit();
      },
    },
    options.map(([value, text]) => h("option", { value, text })),
  );
  select.value = given ?? "";
  return h("label.hx-field.hx-draft-pick", { "data-tip": DEPTH.missTip }, [h("span", DEPTH.miss), select]);
}

/** A draft belongs to one depth: another depth drops it, the lens works at every depth. */
function reread(/** @type {OnFloor} */ level, /** @type {Draft[]} */ drafts, /** @type {number} */ depth) {
  const named = drafts.find((draft) => draft.name === level.options.id);
  if (level.options.id && level.options.id !== "lens" && (named?.at ?? null) !== depth) delete level.options.id;
}

function reading(/** @type {OnFloor} */ level, /** @type {At} */ at, /** @type {number} */ depth) {
  if (level.options.id && level.options.id !== "lens") return DEPTH.byDraft(level.options.id);
  if (level.options.id === "lens") return DEPTH.byLens;
  return at.depth?.trained?.includes(depth) ? DEPTH.trained : DEPTH.untrained;
}
