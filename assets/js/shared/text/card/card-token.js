/** What the card says of one token: who supplied it, from where, beside which others, and each verifier's word. */

import { SAY } from "../../../../text/en/anatomy.js";
import { CARD, VERDICT } from "../../../../text/en/card.js";
import { badge, choiceOf, rows, verdict } from "./card-verdict.js";
import { candidates, fate } from "../../run/tree.js";
import { origin } from "../../run/copies.js";
import { isGreedy } from "../../levels/greedy.js";
import { originOf } from "../../levels/kinds.js";
import { msPerToken } from "../token/legend.js";
import { roundNumber } from "../../kit/round-number.js";
import { figure } from "../../../../text/numbers.js";
import { element, h, say } from "../../kit/dom.js";
import { upTo } from "../../kit/order.js";
import { stopText } from "../../levels/trunk.js";

const NBSP = "\u00a0";

/** The judgements of a token up to a moment. */
export const seen = (record, cursor) => record.judgements.filter((j) => j.t <= cursor);

/** `full`: with the rows of every verifier, not only of the last one. */
export function about(record, model, cursor, full) {
  const level = model.levels[record.level];
  const part = element("div", "hx-card-token");
  const head = part.appendChild(element("header", "hx-card-head"));
  head.append(badge(level), element("strong", "hx-card-text", model.pieceText(record.id)));
  head.append(element("span", "hx-card-state", CARD.states[model.state(record, cursor)]));
  part.append(facts(record, model, level));
  const offered = candidates(record);
  if (offered.length > (record.how === "draft" ? 1 : 0)) part.append(rivals(offered, record, model, cursor));
  if (record.drawn?.pRow && record.how !== "draft")
    part.append(rows([["p", record.drawn.pRow, level.hue]], record, model));
  const verdicts = seen(record, cursor);
  verdicts.forEach((judgement, i) => part.append(verdict(judgement, record, model, full || i === verdicts.length - 1)));
  if (!verdicts.length) part.append(element("p", "hx-card-none", unjudged(record, model)));
  return part;
}

function unjudged(record, model) {
  if (record.level === model.levels.length - 1) return CARD.itself;
  if (record.insteadOf !== null && record.insteadOf !== undefined)
    return CARD.unasked(model.pieceText(model.tokens.get(record.insteadOf).id));
  return record.lostWith === null ? CARD.unjudged : CARD.lost;
}

function facts(record, model, level) {
  const list = element("dl", "hx-card-facts");
  const ms = msPerToken(model, record);
  const number = roundNumber(record.round);
  const round = model.rounds[upTo(model.rounds, record.round, (x) => x.round) - 1];
  const add = (name, value) => list.append(element("dt", "", name), element("dd", "", value));
  const from = originOf(level.kind, record.source)?.title ?? (level.name.includes(record.source) ? "" : record.source);
  const source = from ? ` (${from})` : "";
  add(CARD.supplied, `${level.name}, ${CARD.how[record.how] ?? record.how}${source}`);
  if (record.draws > 1) add(CARD.drawn, CARD.times(record.draws));
  copiedFrom(list, record, model);
  const stop = stopText(level, model.levels, record.depth);
  if (stop) add(record.how === "draft" ? CARD.draftedAt : CARD.drawnAt, stop);
  add(CARD.id, String(record.id));
  add(CARD.position, String(record.at));
  add(
    CARD.round,
    round ? CARD.roundIs(number, figure((round.t1 - round.t0) / 1e6), ms === null ? null : figure(ms)) : String(number),
  );
  const look = element("button", "hx-card-anatomy", SAY.openRound(number));
  look.type = "button";
  look.dataset.anatomy = String(record.serial);
  list.append(element("dt", ""), h("dd", {}, look));
  if (record.drawn) {
    if (isGreedy(model)) add(CARD.chosen, choiceOf(record.drawn.pRow, record, model, VERDICT.whose(level.tag)));
    else add(CARD.drawnWith, figure(record.drawn.p));
  }
  return list;
}

/** A copied token: what it repeats, in its place, and why the drafter looked there. */
function copiedFrom(list, record, model) {
  const found = origin(model, record);
  if (!found) return;
  const place = element("dd", "hx-copied");
  place.append(
    element("span", "hx-copied-where", `${found.where}: `),
    `…${found.before}`,
    element("mark", "", found.token),
    `${found.after}…`,
  );
  const { alike, share } = record.copied;

  list.append(element("dt", "", CARD.copied), place);
  list.append(element("dt", ""), element("dd", "hx-copied-why", CARD.copiedWhy(alike, share)));
}

/** The candidates for a token's place, in judging order, and what became of each. */
function rivals(offered, record, model, cursor) {
  const part = element("div", "hx-rivals");
  const judged = record.fork.tree.judged;
  const by = model.levels[(judged ?? { level: record.level + 1 }).level];
  part.append(element("p", "hx-rivals-title", CARD.offered(by.tag)));
  const list = part.appendChild(element("ol", "hx-rivals-list"));
  for (const one of offered) list.append(rival(one, model, cursor, one === record));
  if (record.how !== "draft") {
    const own = rival(record, model, cursor, true);
    say(own.querySelector(".hx-rival-fate"), CARD.how[record.how]);
    list.append(own);
  }
  return part;
}

function rival(one, model, cursor, mine) {
  const level = model.levels[one.level];
  const from = originOf(level.kind, one.source);
  const drafted = one.how === "draft";
  const what = drafted ? fate(one, cursor) : "kept";
  const item = element("li", "hx-rival");
  item.dataset.fate = what;
  if (mine) item.setAttribute("aria-current", "true");
  const letter = badge(from ? { tag: one.source, underline: level.underline, hue: from.hue } : level);
  letter.title = from?.title ?? level.name;
  const verdict = what === "kept" || what === "rejected" ? one.judgements[0] : null;
  item.append(
    letter,
    element("span", "hx-rival-text", model.pieceText(one.id) || "\u2205"),
    element("span", "hx-rival-p", verdict && drafted ? `α${NBSP}${figure(verdict.alpha)}` : ""),
    element("span", "hx-rival-fate", CARD.fates[what]),
  );
  return item;
}
