/** What one verifier thought of a token: its word, the coin against the acceptance probability, the rows. When greedy no
 *  coin is thrown: a token is the top choice, or it is not. */

import { isGreedy } from "../../levels/greedy.js";
import { figure } from "../../../../text/numbers.js";
import { element } from "../../kit/dom.js";
import { stopText } from "../../levels/trunk.js";
import { VERDICT } from "../../../../text/en/card.js";

const NBSP = "\u00a0";

/** Of whose choices a token is which: "T's top choice (0.83)", "T's 4th choice (0.02); its top choice is the (0.61)". */
export function choiceOf(row, record, model, whose) {
  if (!row?.ids.length) return VERDICT.notKept(whose);
  const rank = row.ids.indexOf(record.id);
  const said = (i) => figure(row.probs[i]);
  if (rank === 0) return VERDICT.top(whose, said(0));
  const own = rank < 0 ? VERDICT.among(whose, row.ids.length) : VERDICT.nth(whose, rank + 1, said(rank));
  return VERDICT.instead(own, model.pieceText(row.ids[0]), said(0));
}

export function verdict(j, record, model, full) {
  const level = model.levels[j.level];
  const part = element("div", `hx-verdict hx-${j.outcome}`);
  const line = part.appendChild(element("p", "hx-verdict-line"));
  line.append(badge(level), element("span", "", `${level.name}: `), element("b", "", VERDICT.outcomes[j.outcome]));
  const stop = stopText(level, model.levels);
  if (stop) line.append(element("span", "hx-verdict-stop", stop));
  if (j.outcome !== "unjudged" && isGreedy(model))
    part.append(element("p", "hx-verdict-plain", choiceOf(j.pRow, record, model, VERDICT.whose(level.tag))));
  else if (j.outcome !== "unjudged") {
    part.append(
      element("p", "hx-verdict-sum", `p${NBSP}${figure(j.p)}   q${NBSP}${figure(j.q)}   α${NBSP}${figure(j.alpha)}`),
      coin(j, level.rule),
    );
    if (level.rule === "block") part.append(element("p", "hx-verdict-sum", VERDICT.block));
  }
  const residual = j.outcome === "rejected" ? j.residual : null;
  const below = model.levels[j.below ?? Math.max(0, j.level - 1)];
  const heads = [
    ["p", j.pRow, level.hue],
    ["q", j.qRow, below.hue],
    [VERDICT.residual, residual, "var(--hue-reject)"],
  ].filter((x) => x[1]);
  if (heads.length && full) part.append(rows(heads, record, model));
  return part;
}

/** The coin against the acceptance probability, as a line from 0 to 1. */
function coin(j, rule) {
  const part = element("p", "hx-coin");
  const sign = j.outcome === "accepted" ? "<" : "\u2265";
  const bar = part.appendChild(element("span", "hx-coin-bar"));
  bar.style.setProperty("--alpha", clamp(j.alpha));
  if (j.coin !== null) {
    bar.dataset.coin = "1";
    bar.style.setProperty("--coin", clamp(j.coin));
  }
  const outcome = VERDICT.outcomes[j.outcome];
  const sure = j.alpha <= 0 || j.alpha >= 1;
  const certain = sure ? VERDICT.certain(outcome) : rule === "match" ? VERDICT.matched[j.outcome] : VERDICT.prefix;
  const words = j.coin === null ? certain : VERDICT.coin(figure(j.coin), sign, figure(j.alpha), outcome);
  part.append(element("span", "", words));
  return part;
}

export function rows(heads, record, model) {
  const part = element("div", "hx-rows");
  for (const [name, row, hue] of heads) {
    const list = part.appendChild(element("ol", "hx-row"));
    list.setAttribute("aria-label", VERDICT.likeliest(name));
    list.style.setProperty("--hue", hue);
    const certain = row.ids.length === 1 && row.probs[0] === 1;
    list.append(element("li", "hx-row-name", certain ? VERDICT.oneHot(name) : name));
    row.ids.slice(0, 8).forEach((id, i) => list.append(bar(model.pieceText(id), row.probs[i], id === record.id)));
    if (row.tail > 0.0005) list.append(bar(VERDICT.others, row.tail, false, "hx-bar-tail"));
  }
  return part;
}

function bar(label, value, mine, more = "") {
  const item = element("li", `hx-bar ${more} ${mine ? "hx-bar-mine" : ""}`.trim());
  item.style.setProperty("--p", clamp(value));
  item.append(element("span", "hx-bar-label", label || "\u2205"), element("span", "hx-bar-value", figure(value)));
  return item;
}

export function badge(level) {
  const node = element("span", "hx-badge", level.tag);
  node.dataset.line = level.underline;
  node.style.setProperty("--hue", level.hue);
  return node;
}

const clamp = (x) => String(Math.min(1, Math.max(0, x ?? 0)));
