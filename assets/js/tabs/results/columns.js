/** What the tables and charts show: a column a benchmark, the bundled ones first, its rows in one order and by the
 *  text that they write. */

import { percent } from "../../shared/run/spared.js";
import { QUICK, BARS } from "../../../text/en/results.js";

/** @typedef {{asked: string, stack: string, plain: string, prompts: number, tokens_per_s: number, speed_up: number,
 *    interval: [number, number], tasks: Record<string, number>, accepted_per_pass: number, equal: number|null,
 *    price?: {spared: number, surprise: number, plain: number}|null}} Row
 *  @typedef {{name: string, tokens_per_s: number|null, why: string, beside_plain?: number, same_tokens?: number}} Peer
 *  @typedef {{stack: string, levels: number, speed_up: number, interval: [number, number], tokens: number, passes: number}} Claimed
 *  @typedef {{best: Claimed[], over: {speed_up: number, interval: [number, number]}|null, loses: Claimed[]}} Claim
 *  @typedef {{about: {machine: string, recorded: string, preset: string, [field: string]: any}, stacks: Row[], peers: Peer[], claim?: Claim}} Results as hsd_core/measure/bench writes them
 *  @typedef {{name: string, stack: string, tasks: Record<string, number>}} PaperRow
 *  @typedef {{paper: string, on: string, why: string, rows: PaperRow[], drawn?: PaperRow[]}} Paper what it reports, as app/tabs/results/bundled_results.py reads it
 *  @typedef {{id: string, name: string, when: string, now: boolean, early: boolean, said: string, results: Results, csv: string,
 *    lost: Record<string, Record<string, any>>, paper: Paper|null, drawn: Record<string, Record<string, number>>, stacks: Row[], rows: Map<string, Row>, peers: Map<string, Peer>}} Column stacks: each once, as `rows` has them by name
 */

/** @param {{id: string, results: Results, csv: string, lost?: Record<string, Record<string, any>>, paper?: Paper|null, drawn?: Record<string, Record<string, number>>}[]} reports
 *  @param {{results: Results, csv: string, text: string, done: number, of: number}} [now] what was measured here a moment ago
 *  @returns {Column[]} */
export function columnsOf(reports, now) {
  const bundled = reports.map((one) => ({
    ...column(one.id, one.results, one.csv, one.results.about.machine, ""),
    lost: one.lost ?? {},
    paper: one.paper ?? null,
    drawn: one.drawn ?? {},
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
    paper: null,
    drawn: {},
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

// The rows of a benchmark by the text that they write: a gain is over plain decoding of the same target, so stacks
// over another target, and programs that read other weights, stand by themselves.

const WHOLE = 0.99995; // of a peer's tokens: rounding is no difference

/** @typedef {{name: string, gain: number, interval: [number, number]|null, rate: number, row: Row|null, peer: Peer|null}} Line
 *  @typedef {{plain: string|null, target: string, lines: Line[]}} Group plain: plain decoding of its target; null for
 *    programs that write another text */

/** @param {Column} column @returns {Group[]} those over the target as it is first */
export function groupsOf(column) {
  const plains = plainsOf(column);
  const groups = plains.map((plain) => ({
    plain,
    target: targetOf(plain, column),
    lines: column.stacks.filter((row) => row.plain === plain).map(stackLine),
  }));
  const ran = [...column.peers.values()].filter((peer) => peer.tokens_per_s !== null);
  groups[0]?.lines.push(...ran.filter(same).map(peerLine));
  const others = ran.filter((peer) => !same(peer)).map(peerLine);
  const all = others.length ? [...groups, { plain: null, target: targetOf(plains[0], column), lines: others }] : groups;
  for (const { lines } of all) lines.sort((a, b) => b.gain - a.gain);
  return all;
}

/** Plain decoding of each target: of the one as it is first, which has no dtype of its own. @param {Column} column */
function plainsOf(column) {
  const plains = [...new Set(column.stacks.map((row) => row.plain))];
  return plains.sort((a, b) => Number(a.includes("@dtype=")) - Number(b.includes("@dtype=")));
}

/** Whether a program wrote the text of our plain decoding. @param {Peer} peer */
export const same = (peer) => (peer.same_tokens ?? 0) >= WHOLE;

/** A target in a word: the dtype that it is computed in, or itself where it has none. */
export function targetOf(/** @type {string} */ plain, /** @type {Column} */ column) {
  const dtype = plain.match(/@dtype=([^@]+)/)?.[1];
  return dtype ?? (plain === "target" ? String(column.results.about.dtype) : plain);
}

/** @param {Row} row @returns {Line} */
const stackLine = (row) => ({
  name: row.stack,
  gain: row.speed_up,
  interval: row.stack === row.plain ? null : row.interval,
  rate: row.tokens_per_s,
  row,
  peer: null,
});

/** @param {Peer} peer @returns {Line} */
const peerLine = (peer) => ({
  name: peer.name,
  gain: peer.beside_plain ?? 0,
  interval: null,
  rate: peer.tokens_per_s ?? 0,
  row: null,
  peer,
});

/** The end of the axis that all groups share: beyond every bar and interval. @param {Group[]} groups */
export function endOf(groups) {
  const ends = groups.flatMap(({ lines }) => lines.map((line) => Math.max(line.gain, line.interval?.[1] ?? 0)));
  return Math.ceil(2 * Math.max(1, ...ends)) / 2;
}

// Whether a row's text is plain decoding's, of which target, and what it gives up: never "equal" beside another's text.

/** @param {Row} row @param {Column} column */
export function sameText(row, column) {
  const target = targetOf(row.plain, column);
  if (row.stack === row.plain) return BARS.itself(target);
  if (row.equal === null) return BARS.drawn;
  const same =
    row.equal === 1 ? BARS.same(target) : BARS.some(Math.round(row.equal * row.prompts), row.prompts, target);
  return row.price ? BARS.lossy(same, percent(row.price.spared)) : same;
}

/** Of another program, beside our plain decoding of the target as it is. */
export const peerText = (/** @type {Peer} */ peer, /** @type {Column} */ column) =>
  same(peer) ? BARS.same(targetOf("target", column)) : BARS.differs(Math.round(100 * (peer.same_tokens ?? 0)));
