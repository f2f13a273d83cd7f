/** One verdict, taken apart: the two distributions over the same tokens, what of them overlaps, the coin, the residual and what was
 *  drawn from it. Numbers of the trace, and what follows from them; nothing here draws. */

import { isGreedy } from "../levels/greedy.js";
import { chance, distributionOf, residualOf, sideBySide } from "../run/distributions.js";

/** @import {Row} from "../run/events.js" @import {Judgement, TokenRecord} from "../run/records.js"
 *  @import {TraceModel} from "../run/trace.js" */

/** @typedef {{id: number|null, p: number, q: number, both: number, rest: number, mine: boolean, drawn: boolean}} Line
 *    both: min(p, q); rest: the residual; mine: the draft; drawn: what the verifier wrote instead
 *  @typedef {{lines: Line[], kept: number, left: number, close: boolean, recorded: boolean}} Distributions kept: the sum of
 *    min(p, q); left: the most of the residual that one token has; recorded: the residual is the trace's own */

/** The judgements of a token up to a moment. @param {TokenRecord} record @param {number} at */
export const judged = (record, at) => record.judgements.filter((j) => j.t <= at);

/** What stands in the place of a rejected token: the verifier's own. @param {TraceModel} model @param {TokenRecord} record @param {Judgement} j */
export function insteadOf(model, record, j) {
  if (j.outcome !== "rejected") return null;
  for (let serial = record.serial + 1; serial < record.serial + 400; serial++) {
    const one = model.tokens.get(serial);
    if (!one || one.round !== j.round) continue;
    if (one.at === record.at && one.level === j.level && one.how !== "draft" && one.tDraft >= j.t) return one;
  }
  return null;
}

/** The judgement that an own token came after, with the draft it replaced; null for a bonus. */
export function replaced(/** @type {TraceModel} */ model, /** @type {TokenRecord} */ own) {
  if (own.how !== "correct") return null;
  for (let serial = own.serial - 1; serial >= 0 && serial > own.serial - 400; serial--) {
    const one = model.tokens.get(serial);
    const j = one?.at === own.at ? one.judgements.find((x) => x.level === own.level && x.outcome === "rejected") : null;
    if (one && j && j.t <= own.tDraft) return { record: one, judgement: j };
  }
  return null;
}

/** Whether a drafted token came without a distribution: a lookup names it. @param {Judgement} j */
export const isNamed = (j) => j.qRow !== null && j.qRow.ids.length === 1 && j.qRow.probs[0] === 1;

/** The distributions of a judgement by p and q.
 *  @param {TraceModel} model @param {TokenRecord} record @param {Judgement} j */
export function distributionsOf(model, record, j) {
  const sampling = model.header?.sampling ?? {};
  const rule = model.levels[j.level].rule;
  const mine = { id: record.id, p: j.p };
  const own = insteadOf(model, record, j);
  const known = [mine];
  if (own?.drawn && !isGreedy(model)) known.push({ id: own.id, p: own.drawn.p });
  if (j.residual?.ids.length && isNamed(j) && rule === "tokenwise")
    known.push({ id: j.residual.ids[0], p: j.residual.probs[0] * (1 - j.p) });
  const p = distributionOf(j.pRow, sampling, known);
  const q = distributionOf(j.qRow, sampling, [{ id: record.id, p: j.q }], isNamed(j));
  return { p, q, own };
}

/** @param {TraceModel} model @param {TokenRecord} record @param {Judgement} j @param {number} [most] lines
 *  @returns {Distributions|null} null where the trace keeps no rows */
export function sampledAct(model, record, j, most = 8) {
  const { p, q, own } = distributionsOf(model, record, j);
  if (!p || !q) return null;
  const always = [record.id, ...(own ? [own.id] : [])].filter((id) => p.probs.has(id) || q.probs.has(id));
  const pair = sideBySide(p, q, always);
  const block = model.levels[j.level].rule === "block";
  const rest = j.residual
    ? pair.ids.map((id) => ofRow(/** @type {Row} */ (j.residual), id))
    : residualOf(pair.p, pair.q);
  if (j.residual) {
    const last = pair.ids.indexOf(null);
    if (last >= 0) rest[last] = Math.max(0, 1 - rest.reduce((a, b, i) => a + (i === last ? 0 : b), 0));
  }
  const lines = pair.ids.map((id, i) => ({
    id,
    p: pair.p[i],
    q: pair.q[i],
    both: Math.min(pair.p[i], pair.q[i]),
    rest: rest[i],
    mine: id === record.id,
    drawn: own !== null && id === own.id,
  }));
  const kept = lines.reduce((sum, x) => sum + x.both, 0);
  const shown = shortened(lines, most);
  if (own && !shown.some((x) => x.drawn)) for (const x of shown) x.drawn = x.id === null;
  return {
    lines: shown,
    kept: Math.min(1, kept),
    left: Math.max(...rest),
    close: p.close && q.close,
    recorded: j.residual !== null && j.outcome === "rejected" && !block,
  };
}

function ofRow(/** @type {Row} */ row, /** @type {number|null} */ id) {
  const at = id === null ? -1 : row.ids.indexOf(id);
  return at < 0 ? 0 : row.probs[at];
}

/** The likeliest lines and those that something happened to; the others become one. */
function shortened(/** @type {Line[]} */ lines, /** @type {number} */ most) {
  if (lines.length <= most) return lines;
  const weight = (/** @type {Line} */ x) => (x.mine || x.drawn ? 9 : x.id === null ? -1 : Math.max(x.p, x.q));
  const chosen = new Set([...lines].sort((a, b) => weight(b) - weight(a)).slice(0, most - 1));
  const others = lines.filter((x) => !chosen.has(x));
  const sum = (/** @type {"p"|"q"|"both"|"rest"} */ key) => others.reduce((all, x) => all + x[key], 0);
  return [
    ...lines.filter((x) => chosen.has(x)),
    { id: null, p: sum("p"), q: sum("q"), both: sum("both"), rest: sum("rest"), mine: false, drawn: false },
  ];
}

/** Lines of one distribution alone: a drafter's before the verdict, a verifier's for a token of its own.
 *  @param {TraceModel} model @param {Row|null} row @param {{id: number, p: number}} mine @param {number} [most] */
export function distributionAlone(model, row, mine, most = 8) {
  const dist = distributionOf(row, model.header?.sampling ?? {}, [mine]);
  if (!dist) return null;
  const all = [...dist.probs].sort((a, b) => b[1] - a[1]).map(([id, p]) => ({ id, p, mine: id === mine.id }));
  const chosen = all.slice(0, most - 1);
  const own = all.find((x) => x.mine);
  if (own && !chosen.includes(own)) chosen[chosen.length - 1] = own;
  const rest = 1 - chosen.reduce((sum, x) => sum + x.p, 0);
  const lines = rest > 5e-4 ? [...chosen, { id: null, p: rest, mine: !own }] : chosen;
  return { lines, close: dist.close, p: own ? own.p : chance(dist, mine.id) };
}

/** The raw rows of a greedy verdict, side by side: the verifier's choices and, where it had a distribution, the drafter's.
 *  @param {Judgement} j @param {TokenRecord} record @param {number} [most] */
export function greedyAct(j, record, most = 8) {
  if (!j.pRow?.ids.length) return null;
  const named = isNamed(j) || !j.qRow;
  const ids = [...j.pRow.ids.slice(0, most - 2)];
  if (!ids.includes(record.id)) ids.push(record.id);
  const top = named ? null : /** @type {Row} */ (j.qRow).ids[0];
  if (top !== null && !ids.includes(top)) ids.push(top);
  /** @param {Row|null} row @param {number} id */
  const of = (row, id) => (row?.ids.includes(id) ? row.probs[row.ids.indexOf(id)] : null);
  const lines = ids.map((id) => ({
    id,
    p: of(j.pRow, id),
    q: named ? null : of(j.qRow, id),
    mine: id === record.id,
    top: id === ids[0],
  }));
  const rest = 1 - lines.reduce((sum, x) => sum + (x.p ?? 0), 0);
  return { lines, named, rest: Math.max(0, rest) };
}
