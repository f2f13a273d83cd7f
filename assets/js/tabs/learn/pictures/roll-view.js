/** The recursion of a round as a roll of calls: each line is a call, further in the cheaper its level, with its time on the
 *  round's clock. Lines that have not happened are not there while a question is open, and pale afterwards. */

import { h } from "../../../shared/kit/dom.js";
import { levelBadge } from "../../../shared/levels/badge.js";
import { timeOf } from "../../../shared/levels/stated.js";
import { placeOf, roundOf } from "../../../shared/anatomy/round.js";
import { rollOf } from "../sums/roll.js";
import { ROLL } from "../../../../text/en/pictures.js";

/** @param {import("./frame.js").PictureContext} ctx @param {(t: number) => void} seek */
export function rollView({ model, open }, seek) {
  const el = h("ol", { class: "hx-roll", tabindex: "0", "aria-label": ROLL.label });
  let drawn = "";
  return {
    el,
    update(/** @type {number} */ cursor) {
      const round = roundOf(model, placeOf(model, cursor));
      if (!round) return;
      const lines = rollOf(model, round);
      const happened = lines.filter((line) => line.t1 <= cursor).length;
      const key = `${round.place} ${happened}`;
      if (key === drawn) return;
      drawn = key;
      const shown = open ? lines.slice(0, happened) : lines;
      const span = round.t1 - round.t0;
      el.replaceChildren(
        ...shown.map((line, i) =>
          row(model, round, line, { span, now: i === happened - 1, later: i >= happened }, seek),
        ),
      );
      const here = /** @type {HTMLElement|undefined} */ (el.children[Math.max(0, happened - 1)]);
      if (here && el.scrollHeight > el.clientHeight) el.scrollTop = here.offsetTop - el.clientHeight / 2;
    },
  };
}

/** @param {import("../../../shared/run/trace.js").TraceModel} model @param {import("../../../shared/anatomy/round.js").Round} round @param {import("../sums/roll.js").RollLine} line
 *  @param {{span: number, now: boolean, later: boolean}} how @param {(t: number) => void} seek */
function row(model, round, line, { span, now, later }, seek) {
  const level = model.levels[line.level];
  const below = model.levels[line.level - 1] ?? null;
  const said = ROLL[line.what]({ ...line, below: below?.tag ?? "", above: model.levels[line.level + 1]?.tag ?? "" });
  const wide = line.t1 > line.t0;
  return h(
    "li",
    {
      "data-what": line.what,
      "data-later": later ? "1" : null,
      "aria-current": now ? "step" : null,
      style: { "--hue": level.hue, "--depth": String(line.depth) },
    },
    h(
      "button",
      { type: "button", class: "hx-roll-line", onclick: () => seek(line.t1) },
      levelBadge(level),
      h("span", { class: "hx-sr", text: level.tag }),
      h("span", { text: said }),
    ),
    h(
      "span",
      { class: "hx-roll-time", "aria-hidden": "true" },
      wide && !later
        ? h("i", {
            style: { "--from": String((line.t0 - round.t0) / span), "--part": String((line.t1 - line.t0) / span) },
          })
        : null,
    ),
    h("small", { text: wide && !later ? timeOf(model, line) : "" }),
  );
}
