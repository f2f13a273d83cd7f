/** The chosen token's verdict as bars: q, p, what they share, the coin, the residual and the draw from it. */

import { badge } from "../levels/badge.js";
import { candidates } from "../run/tree.js";
import { origin } from "../run/copies.js";
import { h } from "../kit/dom.js";
import { isGreedy } from "../levels/greedy.js";
import { originOf } from "../levels/kinds.js";
import { figure } from "../../../text/numbers.js";
import { greedyAct, insteadOf, isNamed, judged, distributionAlone, replaced, sampledAct } from "./act.js";
import { coin, table } from "./marks.js";
import { ACT, GREEDY, QUOTED } from "../../../text/en/anatomy.js";

/** @import {Row} from "../run/events.js" @import {Judgement, TokenRecord} from "../run/records.js"
 *  @import {Level, TraceModel} from "../run/trace.js" @import {Distributions} from "./act.js"
 *  @import {Head} from "./marks.js" */

/** @typedef {NonNullable<ReturnType<typeof greedyAct>>["lines"][0]} Choice */
/** @typedef {{at: number, by: number|null, most: number, onLevel: (level: number) => void}} View at: the settled moment; by: the verifier that is shown */

/** @param {TraceModel} model @param {TokenRecord} record @param {View} view */
export function actOf(model, record, view) {
  const verdicts = judged(record, view.at);
  const j = verdicts.find((x) => x.level === view.by) ?? verdicts.at(-1) ?? null;
  const el = h("section.hx-an-act", { "aria-label": ACT.label });
  el.append(head(model, record, verdicts, j, view));
  const copy = copied(model, record);
  if (copy) el.append(copy);
  const draws = record.draws ?? 1;
  if (draws > 1) el.append(note(ACT.again(draws)));
  if (j?.outcome === "unjudged") el.append(note(ACT.behind));
  if (!j) el.append(...alone(model, record, view));
  else if (j.pRow || j.outcome !== "unjudged") el.append(...verdict(model, record, j, view.most));
  return el;
}

/** @param {TraceModel} model @param {TokenRecord} record @param {Judgement[]} verdicts @param {Judgement|null} j
 *  @param {View} view */
function head(model, record, verdicts, j, view) {
  const level = model.levels[record.level];
  const el = h("header.hx-an-act-head", [
    badge(level),
    h("strong.hx-an-act-token", model.pieceText(record.id) || "\u2205"),
    h("span.hx-an-muted", `${ACT.supplied(level.name, ACT.how[record.how] ?? record.how)}, ${ACT.position(record.at)}`),
  ]);
  if (!verdicts.length) return el;
  const by = h("span.hx-an-by", { role: "group", "aria-label": ACT.by }, h("span.hx-an-muted", ACT.by));
  for (const one of verdicts)
    by.append(
      h("button.hx-an-verifier", { "aria-pressed": String(one === j), onclick: () => view.onLevel(one.level) }, [
        badge(model.levels[one.level]),
        h("span.hx-sr", model.levels[one.level].name),
      ]),
    );
  el.append(by);
  return el;
}

function copied(/** @type {TraceModel} */ model, /** @type {TokenRecord} */ record) {
  const found = origin(model, record);
  if (!found) return null;
  return h("p.hx-an-copied", { dir: "auto" }, [
    h("span.hx-an-muted", ACT.copied(found.where)),
    `\u2026${found.before}`,
    h("mark", found.token),
    `${found.after}\u2026 `,
    h("span.hx-an-muted", ACT.why(record.copied?.alike ?? 0)),
  ]);
}

const note = (/** @type {string} */ text) => h("p.hx-an-note", text);
const said = (/** @type {TraceModel} */ model, /** @type {number} */ id) =>
  QUOTED.token(model.pieceText(id) || "\u2205");

/** @param {TraceModel} model @param {TokenRecord} record @param {Judgement} j @param {number} most */
function verdict(model, record, j, most) {
  if (isGreedy(model)) return greedy(model, record, j, most);
  const act = sampledAct(model, record, j, most);
  const { rule } = model.levels[j.level];
  const parts = [coin(j, rule, offered(record, j).indexOf(record) > 0)];
  if (!act) return [...parts, note(ACT.norows)];
  const verifier = model.levels[j.level];
  const drafter = model.levels[j.below ?? Math.max(0, j.level - 1)];
  const { columns } = ACT;
  const asked = j.outcome === "rejected" ? "" : `. ${ACT.hypothetical}`;
  const q = isNamed(j) ? columns.named : columns.q;
  /** @type {Head[]} */ const heads = [
    { key: "q", name: q.name, tip: q.tip(drafter.name), hue: drafter.hue },
    { key: "p", name: columns.p.name, tip: columns.p.tip(verifier.name), hue: verifier.hue },
    { key: "both", name: columns.both.name, tip: columns.both.tip(""), hue: "" },
    { key: "rest", name: columns.rest.name, tip: columns.rest.tip("") + asked, hue: "" },
  ];
  parts.push(table(model, act.lines, heads, { faint: j.outcome === "rejected" ? "" : "rest" }));
  const drawn = act.lines.find((x) => x.drawn);
  const sum = reach(record, j, act);
  const tookOver = rule === "match" ? ACT.drawnOwn : ACT.drawn;
  const end =
    j.outcome === "rejected" && drawn
      ? note(tookOver(drawn.id === null ? ACT.others : said(model, drawn.id), act.recorded ? drawn.rest : null))
      : j.outcome === "accepted"
        ? note(ACT.kept(said(model, record.id)))
        : null;
  if (end) parts.push(end);
  if (rule !== "match") parts.push(sum); // it keeps a draft with p, whatever q was
  if (rule === "block") parts.push(note(ACT.block));
  if (!act.close) parts.push(note(ACT.estimate));
  return parts;
}

/** How often a candidate is kept at the place, and how often one could be.
 *  @param {TokenRecord} record @param {Judgement} j @param {Distributions} act */
function reach(record, j, act) {
  const { bound } = j;
  const one = offered(record, j).length < 2 && !((record.draws ?? 1) > 1);
  const text = !bound
    ? `${act.close ? "" : "\u2248 "}${ACT.sum(act.kept)}.`
    : one && !isNamed(j)
      ? `${ACT.onlySum(bound.best)}.`
      : ACT.bound(bound.rule, bound.best);
  const tip = bound ? ACT.boundTip : ACT.sumTip;
  return h("p.hx-an-note", { tabindex: "0", "data-tip": tip, text });
}

/** The candidates of a place that one verdict was about: above the first verifier a kept one stands alone. */
const offered = (/** @type {TokenRecord} */ record, /** @type {Judgement} */ j) =>
  candidates(record).filter((x) => x.judgements.some((other) => other.level === j.level && other.t === j.t));

/** The verifier's top choice against the draft.
 *  @param {TraceModel} model @param {{tag: string}} verifier @param {TokenRecord} record
 *  @param {{j: Judgement, top: Choice, mine: Choice, own: TokenRecord|null}} of */
function choice(model, { tag }, record, { j, top, mine, own }) {
  if (top.mine && j.outcome === "accepted") return GREEDY.same(tag, said(model, top.id), figure(top.p));
  const share = mine.p === null ? GREEDY.beyond : figure(mine.p);
  const against = GREEDY.against(tag, said(model, top.id), figure(top.p), said(model, record.id), share);
  if (j.outcome === "accepted") return `${against}: ${GREEDY.byRule}`;
  return `${against}: ${GREEDY.rejected} ${own ? GREEDY.writes(tag) : GREEDY.sibling}`;
}

/** @param {TraceModel} model @param {TokenRecord} record @param {Judgement} j @param {number} most */
function greedy(model, record, j, most) {
  const verifier = model.levels[j.level];
  const drafter = model.levels[j.below ?? Math.max(0, j.level - 1)];
  const act = greedyAct(j, record, most);
  if (!act) return [note(ACT.norows)];
  const top = act.lines.find((x) => x.top) ?? act.lines[0];
  const mine = act.lines.find((x) => x.mine) ?? top;
  const own = insteadOf(model, record, j);
  const words = j.outcome === "unjudged" ? [] : [note(choice(model, verifier, record, { j, top, mine, own }))];
  /** @type {Head[]} */
  const heads = [{ key: "p", name: `p ${GREEDY.raw}`, tip: GREEDY.p(verifier.name), hue: verifier.hue }];
  if (!act.named) heads.unshift({ key: "q", name: `q ${GREEDY.raw}`, tip: GREEDY.q(drafter.name), hue: drafter.hue });
  const lines = act.lines.map((x) => ({ ...x, drawn: own !== null && x.id === own.id }));
  const parts = [...words, table(model, lines, heads, {})];
  const [first, second] = j.pRow?.probs ?? [];
  const margin =
    second > 0
      ? h("p.hx-an-note", {
          tabindex: "0",
          "data-tip": GREEDY.marginTip,
          text: `${GREEDY.margin(figure(Math.log(first / second)))}; ${GREEDY.rest(figure(act.rest))}.`,
        })
      : null;
  if (margin) parts.push(margin);
  const rivals = j.outcome === "unjudged" ? [] : offered(record, j);
  if (rivals.length > 1) {
    const held = rivals.some((x) => x.id === top.id);
    parts.push(note((held ? GREEDY.held : GREEDY.missed)(rivals.length, verifier.tag)));
  }
  if (act.named) parts.push(note(named(record, drafter)));
  return parts;
}

/** A token that nobody has judged: a draft with its drafter's row, or a verifier's own with the row that it came from. */
function alone(/** @type {TraceModel} */ model, /** @type {TokenRecord} */ record, /** @type {View} */ { at, most }) {
  const level = model.levels[record.level];
  const own = record.how !== "draft";
  const before = own ? replaced(model, record) : null;
  if (before && before.judgement.t <= at) return verdict(model, before.record, before.judgement, most);
  const j = record.judgements[0] ?? null;
  const certain = !own && (!j || isNamed(j));
  const row = own ? (record.drawn?.pRow ?? null) : certain ? null : j.qRow;
  const greedyRun = isGreedy(model);
  if (certain) return [...(j || looksUp(record, level) ? [note(named(record, level))] : []), note(ACT.unjudged)];
  if (!row) return [note(ACT.norows)];
  const mine = { id: record.id, p: own ? (record.drawn?.p ?? 0) : (record.q ?? 0) };
  const dist = greedyRun ? rawAlone(row, record.id, most) : distributionAlone(model, row, mine, most);
  if (!dist) return [note(ACT.norows)];
  const p = greedyRun ? row.probs[row.ids.indexOf(record.id)] : mine.p;
  const verb = own ? GREEDY.own : GREEDY.drafts;
  const first = greedyRun
    ? verb(level.tag, said(model, record.id), figure(p))
    : own
      ? (record.how === "bonus" && hadDrafts(model, record) ? ACT.bonus : ACT.alone)(level.tag, p)
      : ACT.unjudged;
  const tip = own ? (greedyRun ? GREEDY.p : ACT.columns.p.tip) : greedyRun ? GREEDY.q : ACT.columns.q.tip;
  const name = `${own ? "p" : "q"}${greedyRun ? ` ${GREEDY.raw}` : ""}`;
  return [
    note(first),
    table(
      model,
      dist.lines.map((x) => ({ ...x, drawn: false })),
      [{ key: "p", name, tip: tip(level.name), hue: level.hue }],
      {},
    ),
  ];
}

/** Whether a token was looked up, not computed. @param {TokenRecord} record @param {Level} level */
const looksUp = (record, level) => Boolean(record.copied) || originOf(level.kind, record.source) !== null;

/** @param {TokenRecord} record @param {Level} level */
const named = (record, level) => (looksUp(record, level) ? GREEDY.names : GREEDY.certain)(level.tag);

function hadDrafts(/** @type {TraceModel} */ model, /** @type {TokenRecord} */ record) {
  for (let serial = record.serial - 1; serial >= Math.max(0, record.serial - 400); serial--) {
    const one = model.tokens.get(serial);
    if (
      one?.round === record.round &&
      one.judgements.some((x) => x.level === record.level && x.t <= record.tDraft && one.at === record.at - 1)
    )
      return true;
  }
  return false;
}

/** @param {Row} row @param {number} id @param {number} most */
function rawAlone(row, id, most) {
  const lines = row.ids.slice(0, most - 1).map((x, i) => ({ id: x, p: row.probs[i], mine: x === id }));
  const rest = 1 - lines.reduce((sum, x) => sum + x.p, 0);
  return { lines: rest > 5e-4 ? [...lines, { id: null, p: rest, mine: false }] : lines };
}
