/** What an exit and a draft model are asked for on their floor: the depth, on a slider, and which trained draft. */

import { h, say } from "./dom.js";
import { heeds } from "./kinds.js";

/** The slider of an exit: after how many layers it reads. Ticks stand where a trained draft exists. */
export function depthRow(level, at) {
  const { min, max, trained = [] } = at.depth;
  const value = Math.min(max, Math.max(min, +level.options.at || at.depth.default || min));
  const place = (depth) => (max > min ? (depth - min) / (max - min) : 0);
  const words = h("b", { class: "hx-depth-value" });
  const how = h("small", { class: "hx-depth-how" });
  const input = h("input", {
    type: "range",
    min,
    max,
    step: 1,
    value,
    class: "hx-depth-slider",
    "data-key": `depth-${at.position}`,
    "aria-label": `depth of ${at.info.label}: after how many of ${max + 1} layers it reads`,
    oninput: () => {
      set(+input.value);
      at.onPreview();
    },
    onchange: () => at.onEdit(),
  });
  const ticks = trained.map((depth) => h("i", { class: "hx-depth-tick", style: { "--at": place(depth) } }));
  const set = (depth) => {
    if (String(depth) !== level.options.at) reread(level, at.drafts, depth);
    level.options.at = String(depth);
    show(depth);
  };
  const show = (depth) => {
    say(words, `${depth} of ${max + 1}`);
    input.style.setProperty("--done", `${100 * place(depth)}%`);
    const text = reading(level, at, depth);
    say(how, text);
    input.setAttribute("aria-valuetext", `layer ${depth} of ${max + 1}, ${text}`);
  };
  show(value);
  const tip = trained.length
    ? `drag: this exit reads after so many layers; a trained draft exists at ${trained.join(", ")}`
    : "drag: this exit reads after so many layers";
  return h(
    "div",
    { class: "hx-depth", "data-tip": tip },
    h("span", { text: "at layer" }),
    h(
      "span",
      { class: "hx-depth-track" },
      input,
      h("span", { class: "hx-depth-ticks", "aria-hidden": "true" }, ...ticks),
    ),
    words,
    how,
  );
}

/** Which trained draft a level uses. An exit may also be read through the model's own norm and head. */
export function draftRow(level, at) {
  const exit = heeds(level.name, "at");
  const here = exit
    ? at.drafts.filter((draft) => draft.at === undefined || String(draft.at) === level.options.at)
    : at.drafts;
  const slow = at.bottom ? "" : "; verifies one row at a time";
  const options = here.map((draft) => [draft.name, `${draft.title || draft.name}${draft.fed ? slow : ""}`]);
  if (exit) options.unshift(["", "trained draft where there is one"], ["lens", "lens: the model's own norm and head"]);
  const known = options.some(([name]) => name === (level.options.id ?? ""));
  if (!known) options.push([level.options.id ?? "", level.options.id || "the preset's own"]);
  const select = h(
    "select",
    {
      class: "hx-select",
      "data-key": `draft-${at.position}`,
      "aria-label": `draft of ${at.info.label}`,
      onchange: () => {
        if (select.value) level.options.id = select.value;
        else delete level.options.id;
        at.onEdit();
      },
    },
    ...options.map(([value, text]) => h("option", { value, text })),
  );
  select.value = level.options.id ?? "";
  return h(
    "label",
    {
      class: "hx-field hx-draft-pick",
      "data-tip": exit
        ? "how the hidden states at this depth become probabilities"
        : "which trained weights this level uses",
    },
    h("span", { text: exit ? "read" : "draft" }),
    select,
  );
}

/** What drafts where an n-gram level finds nothing. */
export function missRow(level, at) {
  const options = [
    ["", "nothing: the level above goes on alone"],
    ...at.drafts.map((draft) => [draft.name, `${draft.name}: ${draft.title || "a nano draft"}`]),
  ];
  const given = level.options.miss === "nano" ? at.drafts[0]?.name : level.options.miss;
  if (given && !options.some(([name]) => name === given)) options.push([given, given]);
  const select = h(
    "select",
    {
      class: "hx-select",
      "data-key": `miss-${at.position}`,
      "aria-label": `on a miss of ${at.info.label}`,
      onchange: () => {
        if (select.value) level.options.miss = select.value;
        else delete level.options.miss;
        at.onEdit();
      },
    },
    ...options.map(([value, text]) => h("option", { value, text })),
  );
  select.value = given ?? "";
  return h(
    "label",
    { class: "hx-field hx-draft-pick", "data-tip": "what drafts when no database knows a continuation" },
    h("span", { text: "on a miss" }),
    select,
  );
}

/** A draft belongs to one depth: another depth drops it, the lens works at every depth. */
function reread(level, drafts, depth) {
  const named = drafts.find((draft) => draft.name === level.options.id);
  if (level.options.id && level.options.id !== "lens" && (named?.at ?? null) !== depth) delete level.options.id;
}

function reading(level, at, depth) {
  if (level.options.id && level.options.id !== "lens") return `draft ${level.options.id}`;
  if (level.options.id === "lens") return "lens: the model's own head";
  return at.depth.trained?.includes(depth) ? "trained draft" : "untrained: the model's own head";
}
