/** One token of the run with its parts named: what its colour, underline, letter and dots say. */

import { element } from "../../kit/dom.js";
import { SPECIMEN } from "../../../../text/en/legend.js";

const LONGEST = 14; // letters
const SEARCHED = 200; // tokens

/**
 * The token that explains itself best: a word that a level below the target let pass, else any word; null before the
 * first one.
 * @param {import("../../run/trace.js").TraceModel} model
 * @param {{of: (record: object, cursor: number) => any}} scheme
 */
export function specimenOf(model, scheme) {
  const top = model.levels.length - 1;
  /** @type {{key: string, text: string, category: any, passed: import("../../run/trace.js").Level[]}|null} */ let found =
    null;
  for (const serial of model.committed.slice(0, SEARCHED)) {
    const record = model.tokens.get(serial);
    const text = record ? model.pieceText(record.id).replace(/^\u00b7/, "") : "";
    if (!record || !/^\p{L}{3,}$/u.test(text) || text.length > LONGEST) continue;
    const passed = record.passed.filter((x) => x.level < top).map((x) => model.levels[x.level]);
    if (found && !passed.length) continue;
    const category = scheme.of(record, Infinity);
    found = { key: `${serial} ${category.name}`, text, category, passed };
    if (passed.length || top < 2) break;
  }
  return found;
}

/** @param {NonNullable<ReturnType<typeof specimenOf>>} example @param {string} title what colours say */
export function specimen({ text, category, passed }, title) {
  const el = element("figure", "hx-specimen");
  const token = element("span", "hx-tok", text);
  token.dataset.line = category.underline;
  token.dataset.mark = category.letter;
  token.style.setProperty("--hue", category.hue);
  if (category.strength) token.style.setProperty("--tint", `${category.strength}%`);
  const parts = element("ul", "hx-specimen-parts");
  if (passed.length) {
    token.dataset.dots = "\u2022".repeat(passed.length);
    token.style.setProperty("--dot", passed[passed.length - 1].hue);
    const many = passed.length > 1;
    parts.append(part(many ? SPECIMEN.dots : SPECIMEN.dot, SPECIMEN.passed(passed.map((level) => level.tag))));
  }
  const shown = [SPECIMEN.colour, category.underline === "none" ? "" : SPECIMEN.line, SPECIMEN.letter(category.letter)];
  parts.append(part(shown.filter(Boolean).join(", "), title));
  const holder = element("span", "hx-specimen-token");
  holder.append(token);
  holder.setAttribute("aria-hidden", "true");
  el.append(holder, parts);
  return el;
}

function part(name, text) {
  const item = element("li", "");
  item.append(element("b", "", name), `: ${text}`);
  return item;
}
