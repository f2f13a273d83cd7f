/** What the tables and charts show: a column a benchmark, the bundled ones first, and the rows in one order. */

import { QUICK } from "../../../text/en/results.js";

/**
 * @typedef {{asked: string, stack: string, plain: string, prompts: number, tokens_per_s: number, speed_up: number,
 *   interval: [number, number], tasks: Record<string, number>, accepted_per_pass: number, equal: number|null}} Row
 * @typedef {{name: string, tokens_per_s: number|null, why: string, beside_plain?: number, same_tokens?: number}} Peer
 * @typedef {{stack: string, levels: number, speed_up: number, interval: [number, number], tokens: number, passes: number}} Claimed
 * @typedef {{best: Claimed[], over: {speed_up: number, interval: [number, number]}|null, loses: Claimed[]}} Claim
 * @typedef {{about: Record<string, any>, stacks: Row[], peers: Peer[], claim?: Claim}} Results as hsd_core/measure/bench writes them
 * @typedef {{id: string, name: string, when: string, now: boolean, early: boolean, said: string, results: Results, csv: string,
 *   lost: Record<string, Record<string, any>>, stacks: Row[], rows: Map<string, Row>, peers: Map<string, Peer>}} Column stacks: each once, as `rows` has them by name
 */

/**
 * @param {{id: string, results: Results, csv: string, lost?: Record<string, Record<string, any>>}[]} reports
 * @param {{results: Results, csv: string, text: string, done: number, of: number}} [now] what was measured here a moment ago
 * @returns {Column[]}
 */
export function columnsOf(reports, now) {
  const bundled = reports.map((one) => ({
    ...column(one.id, one.results, one.csv, one.results.about.machine, ""),
    lost: one.lost ?? {},
  }));
  if (!now) return bundled;
  return [...bundled, { ...column("now", now.results, now.csv, QUICK.now, now.text), early: now.done < now.of }];
}

/** @param {string} id @param {Results} results @param {string} csv @param {string} name @param {string} said */
function column(id, results, csv, name, said) {
  const rows = new Map(results.stacks.map((row) => [row.stack, row]));
  const peers = new Map(results.peers.map((peer) => [peer.name, peer]));
  const when = String(results.about.recorded).slice(0, 10);
  return {
    id,
    name,
    when,
    now: id === "now",
    early: false,
    said,
    results,
    csv,
    lost: {},
    stacks: [...rows.values()],
    rows,
    peers,
  };
}

/** The stacks of a benchmark, those over the target as it is first, then fastest first. @param {Column} column */
export function stacksOf(column) {
  const stacks = ordered(column.rows);
  const reduced = (/** @type {string} */ stack) => Number(/target.*@dtype=/.test(stack));
  return stacks.sort((a, b) => reduced(a) - reduced(b));
}

/** The other programs of a benchmark, fastest first; those that were not run last. @param {Column} column */
export const peersOf = (column) => ordered(column.peers);

/** @param {Map<string, {tokens_per_s: number|null}>} rows */
const ordered = (rows) =>
  [...rows].sort(([, a], [, b]) => (b.tokens_per_s ?? -1) - (a.tokens_per_s ?? -1)).map(([name]) => name);
