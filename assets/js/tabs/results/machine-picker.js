/** Which benchmark is shown: a model and a machine, the quick set measured here, or a machine that nobody measured. */

import { h } from "../../shared/kit/dom.js";
import { QUICK, RESULTS } from "../../../text/en/results.js";

export const NOW = "now:"; // and its preset: what the quick set measured here
const LACK = "missing:"; // and the kind of machine

/** What a benchmark is called in the menu: what it measured, where and on how many prompts. @param {import("./columns.js").Results} results */
export function optionOf({ about, stacks }) {
  const file = about.command?.match(/--stacks (?:\S*\/)?(\S+)\.txt/)?.[1] ?? ""; // its stacks' file is named after them
  const subject = file.replace(about.preset, "").replace(/^-/, "");
  return RESULTS.option(RESULTS.subjects[subject] ?? subject, about.machine, stacks[0].prompts);
}

/** @param {{onPick: (id: string) => void}} ctx */
export function machinePicker(ctx) {
  const el = h("select.hx-select.hx-res-machine", { "aria-label": RESULTS.pick, onchange: () => ctx.onPick(el.value) });
  /** @typedef {{preset: string, at: string|null, lack: any, unlike: number}} Listed */
  /** @type {Map<string, Listed>} */ let known = new Map();

  /** @param {{reports: any[], now: Map<string, any>, missing: any[], presets: any[]}} all */
  function list({ reports, now, missing, presets }) {
    known = new Map();
    const groups = new Map();
    /** @param {string} preset @param {string} id @param {string} text @param {Partial<Listed>} one */
    const add = (preset, id, text, one) => {
      known.set(id, { preset, at: null, lack: null, unlike: 9, ...one });
      groups.set(preset, [...(groups.get(preset) ?? []), h("option", { value: id, text })]);
    };
    for (const { id, results, unlike } of reports) add(results.about.preset, id, optionOf(results), { at: id, unlike });
    for (const preset of now.keys()) add(preset, `${NOW}${preset}`, QUICK.now, { at: "now" });
    for (const lack of missing) add(lack.preset, `${LACK}${lack.what}`, RESULTS.missing(lack.what), { lack });
    const names = presets.map(({ name }) => name);
    const place = (/** @type {string} */ preset) => (names.includes(preset) ? names.indexOf(preset) : names.length);
    const order = [...groups.keys()].sort((a, b) => place(a) - place(b)); // the usual one first, as everywhere
    const title = (/** @type {string} */ name) => presets.find((one) => one.name === name)?.title ?? name;
    el.replaceChildren(...order.map((preset) => h("optgroup", { label: title(preset) }, groups.get(preset) ?? [])));
  }

  /** The one that the address names, else of the preset that it names, or the usual one, the machine most like this. */
  function asked() {
    const query = new URLSearchParams(location.search);
    const [bench, preset] = [query.get("bench") ?? "", query.get("preset")];
    if (known.has(bench)) return bench;
    const listed = [...el.querySelectorAll("option")].map(({ value }) => value);
    const own = listed.filter((id) => known.get(id)?.preset === preset);
    const [first = ""] = own.length ? own : listed;
    const of = known.get(first)?.preset;
    const alike = listed.filter((id) => known.get(id)?.preset === of);
    return alike.sort((a, b) => (known.get(a)?.unlike ?? 9) - (known.get(b)?.unlike ?? 9))[0] ?? "";
  }

  return {
    el,
    list,
    asked,
    found: (/** @type {string} */ id) => known.get(id) ?? { preset: "", at: null, lack: null, unlike: 9 },
    set: (/** @type {string} */ id) => {
      el.value = id;
    },
    value: () => el.value,
    idOf: (/** @type {import("./columns.js").Column} */ column) =>
      column.id === "now" ? `${NOW}${column.results.about.preset}` : column.id,
  };
}
