/** Several sequences offered side by side: a tree of tokens, read from a draft's `parents`, and what a verifier made of
 *  it. Siblings stand in the order in which they are judged; the first child goes on in the row of its parent. */

import { COMB } from "./words/text.js";

/**
 * @typedef {import("./tokens.js").TokenRecord} TokenRecord
 * @typedef {{t: number, level: number, kept: number}} Judged when, by whom, and how many tokens were kept
 * @typedef {{comb: Comb, parent: number|null}} Fork a place with candidates: behind the token `parent`, or behind the text
 * @typedef {{t: number, round: number, level: number, parents: number[], depths: number[], rowOf: number[], rows: number,
 *   nodes: TokenRecord[], judged: Judged|null, end: {parent: number|null, at: number}}} Comb
 *   t: when it was drafted. parents, depths, rowOf: by node; -1: behind the text. end: the fork at which nothing was kept.
 */

/**
 * The comb of a draft; null for a chain, unless `always`: then a chain is a comb of one row.
 * @param {import("./events.js").Draft} e
 * @param {boolean} always
 * @returns {Comb|null}
 */
export function combOf(e, always = false) {
  const given = e.parents ?? [];
  const isTree = given.length === e.ids.length && given.every((above, i) => above >= -1 && above < i);
  if (!e.ids.length || !(always || (given.length && isTree))) return null;
  const parents = given.length && isTree ? given : e.ids.map((_, i) => i - 1);
  /** @type {number[]} */ const depths = [];
  for (const above of parents) depths.push(above < 0 ? 0 : depths[above] + 1);
  const { rowOf, rows } = rowsOf(parents);
  const end = { parent: null, at: e.at };
  return { t: e.t1, round: e.round, level: e.level, parents, depths, rowOf, rows, nodes: [], judged: null, end };
}

/** @param {number[]} parents */
function rowsOf(parents) {
  /** @type {number[]} */ const rowOf = new Array(parents.length).fill(0);
  let rows = 0;
  const visit = (/** @type {number} */ above, /** @type {number} */ row) =>
    parents.forEach((p, i) => {
      if (p !== above) return;
      rowOf[i] = row < 0 ? rows : row;
      rows = Math.max(rows, rowOf[i] + 1);
      visit(i, rowOf[i]);
      row = -1; // the next sibling begins a row of its own
    });
  visit(-1, 0);
  return { rowOf, rows };
}

/**
 * Writes down what became of every node. Returns the rejected ones, in judging order.
 * @param {Comb} comb
 * @param {import("./events.js").Verify} e
 */
export function settle(comb, e) {
  const outcome = new Map(e.checks.map((c) => [c.serial, c.outcome]));
  const kept = comb.nodes.filter((x) => outcome.get(x.serial) === "accepted");
  const rejected = comb.nodes.filter((x) => outcome.get(x.serial) === "rejected");
  comb.judged = { t: e.t1, level: e.level, kept: kept.length };
  comb.end = { parent: kept.at(-1)?.serial ?? null, at: comb.end.at + kept.length };
  comb.nodes.forEach((record, i) => {
    if (kept.includes(record)) return;
    record.tGone = e.t1;
    let top = i; // the node of its branch that stands behind the kept path
    while (!rejected.includes(comb.nodes[top]) && comb.parents[top] >= 0) {
      if (kept.includes(comb.nodes[comb.parents[top]])) break;
      top = comb.parents[top];
    }
    const head = comb.nodes[top];
    if (record === head && rejected.includes(head)) record.goneBy = e.level;
    else if (rejected.includes(head)) {
      record.lostWith = head.serial;
      head.followers.push(record);
    } else record.insteadOf = candidates(head).find((x) => kept.includes(x))?.serial ?? null;
  });
  return rejected;
}

/**
 * The tokens that were offered for the place of a token, in judging order; none where there was one draft, or none.
 * @param {TokenRecord} record
 */
export function candidates({ fork }) {
  return fork ? fork.comb.nodes.filter((x) => x.fork?.parent === fork.parent) : [];
}

/**
 * What became of a candidate up to a cursor.
 * @param {TokenRecord} record
 * @param {number} cursor
 * @returns {"waiting"|"kept"|"rejected"|"lost"|"unasked"}
 */
export function fate(record, cursor) {
  const judged = record.fork?.comb.judged;
  if (!judged || judged.t > cursor) return "waiting";
  const verdict = record.judgements.find((j) => j.level === judged.level && j.t === judged.t)?.outcome;
  if (verdict === "accepted") return "kept";
  return verdict === "rejected" ? "rejected" : record.lostWith === null ? "unasked" : "lost";
}

/**
 * A comb in a line of words.
 * @param {Comb} comb
 * @param {import("./trace.js").TraceModel} model
 * @param {number} cursor
 */
export function combText(comb, model, cursor) {
  const said = COMB.said(comb.rows, comb.nodes.length);
  if (!comb.judged || comb.judged.t > cursor) return COMB.waits(said);
  const count = (/** @type {string} */ what) => comb.nodes.filter((x) => fate(x, cursor) === what).length;
  const { kept, level } = comb.judged;
  const rest = count("lost") + count("unasked");
  return COMB.judged(said, { kept, rejected: count("rejected"), level: model.levels[level].tag, rest });
}
