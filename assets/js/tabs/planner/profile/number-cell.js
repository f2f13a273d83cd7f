/** A cell of a table whose number can be changed. */

import { h } from "../../../shared/kit/dom.js";
import { TABLES } from "../../../../text/en/planner.js";

export const PROBABILITY = { low: 0, high: 1, what: TABLES.probability, step: "any" };
export const COST = { low: 1e-6, high: 1e6, what: TABLES.cost, step: "any" };
export const TIME = { low: 0, high: 1e6, what: TABLES.time, step: "any" };

/**
 * @typedef {{path: (string|number)[], value: number|undefined, hint?: string, kind: typeof PROBABILITY, label: string, range?: string|null,
 *   part: string, optional?: boolean, shade?: number|null}} Cell kind: what may be written
 * @typedef {(path: (string|number)[], value: number|undefined, part: string) => void} Edit
 * @typedef {import("./profile.js").Profile} Profile @typedef {import("../../../shared/levels/kinds.js").Look} Look
 * @typedef {{profile: Profile, measured: Profile, styles: Look[]}} Shown
 */

/** A cell with an input. A number that cannot be used is said beside the field and changes nothing; the text stays.
 *  @param {Cell} cell @param {Edit} edit */
export function numberCell(
  { path, value, hint = "", kind, label, range = "", part, optional = false, shade = null },
  edit,
) {
  const input = h("input", {
    class: "hx-input hx-plan-number",
    type: "number",
    inputmode: "decimal",
    min: kind.low === 1e-6 ? 0 : kind.low,
    max: kind.high === 1 ? 1 : null,
    step: kind.step,
    value: value === undefined ? "" : short(value),
    placeholder: hint,
    "aria-label": label,
  });
  const cell = h(
    "td",
    { class: "hx-plan-cell" },
    input,
    range ? h("span", { class: "hx-plan-range", text: range, "aria-label": TABLES.intervalOf(range) }) : null,
  );
  cell.dataset.path = JSON.stringify(path);
  if (shade !== null) cell.style.setProperty("--shade", `${Math.round(shade * 100)}%`);
  input.addEventListener("input", () => {
    const text = input.value.trim();
    const number = Number(text);
    const empty = text === "" && !input.validity.badInput;
    const fits = empty ? optional : Number.isFinite(number) && text !== "" && number >= kind.low && number <= kind.high;
    input.setAttribute("aria-invalid", String(!fits));
    const fault = fits ? "" : empty ? TABLES.write(label, kind.what) : TABLES.isNot(label, text, kind.what);
    cell.dispatchEvent(new CustomEvent("hx:fault", { bubbles: true, detail: fault }));
    if (!fits) return;
    if (shade !== null) cell.style.setProperty("--shade", `${Math.round(number * 100)}%`);
    edit(path, empty ? undefined : number, part);
  });
  return cell;
}

const short = (/** @type {number} */ value) => String(Number(value.toPrecision(4)));
