/** A verdict's marks: the coin on its line, and tokens by line against distributions by column. */

import { h } from "../kit/dom.js";
import { figure } from "../../../text/numbers.js";
import { ACT } from "../../../text/en/anatomy.js";
import { VERDICT } from "../../../text/en/card.js";
import { spared } from "../run/spared.js";

/** @import {Judgement} from "../run/records.js" */

/** @typedef {{id: number|null, mine?: boolean, drawn?: boolean, p?: number|null, q?: number|null, both?: number, rest?: number, exact?: number,
 *   out?: number|null}} Line */
/** @typedef {{key: "p"|"q"|"both"|"rest"|"exact"|"out", name: string, tip: string, hue: string}} Head */

/** A line from 0 to 1: below alpha the draft is kept; the coin lies on it. `later`: candidates were judged before it. */
export function coin(/** @type {Judgement} */ j, /** @type {string|null} */ rule, later = false) {
  if (j.outcome === "unjudged") return "";
  const [u, a] = [j.coin === null ? "" : figure(j.coin), figure(j.alpha)];
  const below = j.outcome === "accepted" && !spared(j);
  const outcome = spared(j) ? VERDICT.outcomes.spared : below ? ACT.accepted : ACT.rejected;
  const certain = j.alpha <= 0 || j.alpha >= 1;
  const words =
    j.coin !== null
      ? ACT.coin(u, below ? "<" : "\u2265", a, outcome)
      : certain
        ? ACT.certain(a, outcome)
        : rule === "match"
          ? ACT.matched[j.outcome](a)
          : ACT.longer(a);
  const sum = () => (later ? ACT.laterTip(a) : ACT.alphaTip(figure(j.p), figure(j.q), a));
  /** @type {Record<string, (a: string) => string>} */ const tips = { block: ACT.blockTip, match: ACT.matchTip };
  const bar = h("span.hx-an-coin-bar", { "aria-hidden": "true", style: { "--alpha": clamp(j.alpha) } });
  if (j.coin !== null) bar.append(h("i", { style: { "--coin": clamp(j.coin) } }));
  return h("p.hx-an-coin", { tabindex: "0", "data-outcome": j.outcome, "data-tip": tips[rule ?? ""]?.(a) ?? sum() }, [
    bar,
    h("span", words),
  ]);
}

/** Tokens by line, distributions by column, each figure in its bar.
 *  @param {{pieceText: (id: number) => string}} model @param {Line[]} lines @param {Head[]} heads
 *  @param {{faint?: string}} how */
export function table(model, lines, heads, { faint = "" }) {
  const el = h("table.hx-an-table", { style: { "--distributions": String(heads.length) } });
  const row = h("tr", h("th", { scope: "col", text: ACT.token }));
  for (const { name, tip, key } of heads)
    row.append(h("th", { scope: "col", tabindex: "0", "data-tip": tip, "data-key": key, text: name }));
  el.append(h("thead", row));
  const body = h("tbody");
  for (const line of lines) {
    const text = line.id === null ? ACT.others : model.pieceText(line.id) || "\u2205";
    const tr = h("tr", h("th", { scope: "row", text, class: line.id === null ? "hx-an-others" : null }));
    if (line.mine) tr.dataset.mine = "1";
    if (line.drawn) tr.dataset.drawn = "1";
    for (const { key, hue } of heads) {
      const value = line[key];
      const cell = h("td", { "data-key": key, style: { "--p": clamp(value ?? 0), ...(hue ? { "--hue": hue } : {}) } }, [
        h("span", value === null || value === undefined ? "\u2013" : figure(value)),
      ]);
      if (key === faint) cell.dataset.faint = "1";
      tr.append(cell);
    }
    body.append(tr);
  }
  el.append(body);
  return el;
}

const clamp = (/** @type {number|null|undefined} */ x) => String(Math.min(1, Math.max(0, x ?? 0)));
