/** Several candidates offered side by side: a tree of tokens, read from what each of a draft stands `behind`, and what a
 *  verifier made of it. Siblings stand in the order in which they are judged; the first child goes on in the row of its parent. Where the
 *  levels work at the same time a draft may go on behind tokens that wait to be judged: they are of its tree. */

import { TREE } from "../../../text/en/text.js";

/** @import {Draft, Verify} from "./events.js" @import {TokenRecord, Tree} from "./records.js" */

/** The tree of a draft; null for a chain, unless `always`: then a chain is a tree of one row.
 *  @param {Draft} e @param {boolean} always
 *  @param {TokenRecord[]} waiting tokens that nobody has judged yet, a parent before its children
 *  @returns {Tree|null} */
export function treeOf(e, always = false, waiting = []) {
  const { tokens } = e;
  const places = new Map(tokens.map((x, i) => [x.serial, i]));
  const given = tokens.map((x) => places.get(x.parent ?? -1) ?? -1);
  const isTree = tokens.every((x, i) => x.parent !== undefined && given[i] < i);
  if (!tokens.length || !(always || waiting.length || isTree)) return null;
  const own = isTree ? given : tokens.map((_, i) => i - 1);
  const onto = tokens.map((x, i) => (isTree && own[i] < 0 ? (x.parent ?? -1) : -1));
  return grownOn(waiting, own, onto, e);
}

/** Waiting tokens and those of a draft as one tree, whose nodes are the waiting ones so far.
 *  @param {TokenRecord[]} waiting
 *  @param {number[]} own the parents of the draft's tokens
 *  @param {number[]} onto the serial of the waiting token that each stands behind, -1 where it is none
 *  @param {{t1: number, round: number, level: number, at: number}} e @returns {Tree} */
export function grownOn(waiting, own, onto, e) {
  const places = new Map(waiting.map((x, i) => [x.serial, i]));
  const place = (/** @type {number|null|undefined} */ serial) => places.get(serial ?? -1) ?? -1;
  const parents = [
    ...waiting.map((x) => place(x.fork?.parent)),
    ...own.map((above, i) => (above < 0 ? place(onto[i]) : above + waiting.length)),
  ];
  /** @type {number[]} */ const depths = [];
  for (const above of parents) depths.push(above < 0 ? 0 : depths[above] + 1);
  const { rowOf, rows } = rowsOf(parents);
  const end = { parent: null, at: Math.min(e.at, ...waiting.map((x) => x.at)) };
  const { t1: t, round, level } = e;
  return { t, round, level, parents, depths, rowOf, rows, nodes: [...waiting], judged: null, end };
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

/** Writes down what became of every node. Returns the rejected ones, in judging order, and those that wait further.
 *  @param {Tree} tree @param {Verify} e */
export function settle(tree, e) {
  const fell = new Set(e.notes?.dropped?.serials);
  const outcome = new Map(e.checks.map((c) => [c.serial, c.outcome]));
  const kept = tree.nodes.filter((x) => outcome.get(x.serial) === "accepted");
  const rejected = tree.nodes.filter((x) => outcome.get(x.serial) === "rejected");
  tree.judged = { t: e.t1, level: e.level, kept: kept.length };
  tree.end = { parent: kept.at(-1)?.serial ?? null, at: tree.end.at + kept.length };
  const waiting = tree.nodes.filter((x) => !outcome.has(x.serial) && !fell.has(x.serial));
  tree.nodes.forEach((record, i) => {
    if (kept.includes(record) || waiting.includes(record)) return;
    record.tGone = e.t1;
    let top = i; // the node of its branch that stands behind the kept path
    while (!rejected.includes(tree.nodes[top]) && tree.parents[top] >= 0) {
      if (kept.includes(tree.nodes[tree.parents[top]])) break;
      top = tree.parents[top];
    }
    const head = tree.nodes[top];
    if (record === head && rejected.includes(head)) record.goneBy = e.level;
    else if (rejected.includes(head)) {
      record.lostWith = head.serial;
      head.followers.push(record);
    } else record.insteadOf = candidates(head).find((x) => kept.includes(x))?.serial ?? null;
  });
  return { rejected, kept, waiting };
}

/** The tokens that were offered for the place of a token, in judging order; none where there was one draft, or none.
 *  @param {TokenRecord} record */
export function candidates({ fork }) {
  return fork ? fork.tree.nodes.filter((x) => x.fork?.parent === fork.parent) : [];
}

/** What became of a candidate up to a cursor. @param {TokenRecord} record @param {number} cursor
 *  @returns {"waiting"|"kept"|"rejected"|"lost"|"unasked"} */
export function fate(record, cursor) {
  const judged = record.fork?.tree.judged;
  if (!judged || judged.t > cursor) return "waiting";
  const verdict = record.judgements.find((j) => j.level === judged.level && j.t === judged.t)?.outcome;
  if (verdict === "accepted") return "kept";
  return verdict === "rejected" ? "rejected" : record.lostWith === null ? "unasked" : "lost";
}

/** A tree in a line of words. @param {Tree} tree @param {{levels: {tag: string}[]}} model @param {number} cursor */
export function treeText(tree, model, cursor) {
  const said = TREE.said(tree.rows, tree.nodes.length);
  if (!tree.judged || tree.judged.t > cursor) return TREE.waits(said);
  const count = (/** @type {string} */ what) => tree.nodes.filter((x) => fate(x, cursor) === what).length;
  const { kept, level } = tree.judged;
  const rest = count("lost") + count("unasked");
  return TREE.judged(said, { kept, rejected: count("rejected"), level: model.levels[level].tag, rest });
}
