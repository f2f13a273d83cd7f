/** The fates of early tokens: one prompt written by several stacks, the texts below each other. What is not the target's own
 *  choice is hatched, and a bar stands where a text leaves that of plain decoding. */

import { bring } from "../index.js";
import { percent, priceOf } from "../../shared/run/spared.js";
import { h } from "../../shared/kit/dom.js";
import { stackNames } from "../../shared/levels/stack-names.js";
import { frame } from "../../tabs/learn/pictures/frame.js";
import { PRICE } from "../../../text/en/run.js";
import { FATES } from "./words.js";

/** @import {Picture, PictureContext} from "../../tabs/learn/pictures/frame.js" @import {TraceModel} from "../../shared/run/trace.js" */

/** @param {PictureContext} ctx @returns {Picture} */
function fatesPicture({ model, figure, open, sources }) {
  const { recordings } = sources();
  const models = [model, ...(figure.beside ?? []).flatMap((name) => recordings.get(name) ?? [])];
  const names = stackNames(models.map(stackOf));
  const { el, tell } = frame(figure.kind, FATES.label, [
    h(
      "dl.hx-fates",
      models.flatMap((one) => row(names.get(stackOf(one)) ?? "", one, open)),
    ),
  ]);
  tell(open ? FATES.asked : FATES.says);
  return { el };
}

/** @param {TraceModel} model */
const stackOf = (model) => model.header?.stack ?? "";

/** A run's name, what became of its text, and the text.
 *  @param {string} name @param {TraceModel} model @param {boolean} open */
function row(name, model, open) {
  if (open) return [h("dt", name), h("dd.hx-fates-text", "\u2026")];
  const { baseline } = model;
  const price = priceOf(model);
  const left = baseline?.diverges ? FATES.leaves(baseline.equal) : FATES.same;
  const told = FATES.row(left, price ? PRICE.short(percent(price.share)) : "");
  return [h("dt", [h("b", name), `: ${told}`]), h("dd.hx-fates-text", tokensOf(model))];
}

/** The text, a node for each of its cells. @param {TraceModel} model */
export function tokensOf(model) {
  const { baseline } = model;
  const choices = priceOf(model)?.choices ?? [];
  let at = 0; // the cell's first token in the text
  return model.cells.flatMap(({ serials, text, special }) => {
    const from = at;
    at += serials.length;
    const record = model.tokens.get(serials[0]);
    if (!record || special) return [];
    const { hue, underline } = model.levels[record.level];
    const other = serials.flatMap((serial, i) => {
      const choice = choices[from + i];
      return choice === undefined || choice === model.tokens.get(serial)?.id ? [] : [model.pieceText(choice)];
    });
    const tip = other.length ? `${PRICE.spared}: \u201c${other.join("")}\u201d` : null;
    const marks = { "data-line": underline, "data-spared": tip && "1", "data-tip": tip };
    const token = h("span.hx-tok", { ...marks, style: { "--hue": hue }, text });
    const leaves = baseline?.diverges && from <= baseline.equal && baseline.equal < at;
    const bar = leaves && h("i.hx-fates-bar", { role: "img", "aria-label": FATES.here, "data-tip": FATES.here });
    return bar ? [bar, token] : [token];
  });
}

bring({ pictures: [{ name: "fates", make: fatesPicture }] });
