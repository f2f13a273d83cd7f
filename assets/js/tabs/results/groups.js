/** The rows of a benchmark by the text that they write: a gain is over plain decoding of the same target, so stacks over
 *  another target, and programs that read other weights, stand by themselves. */

const WHOLE = 0.99995; // of a peer's tokens: rounding is no difference

/**
 * @typedef {import("./columns.js").Column} Column
 * @typedef {import("./columns.js").Row} Row
 * @typedef {import("./columns.js").Peer} Peer
 * @typedef {{name: string, gain: number, interval: [number, number]|null, rate: number, row: Row|null, peer: Peer|null}} Line
 * @typedef {{plain: string|null, target: string, lines: Line[]}} Group plain: plain decoding of its target; null for
 *   programs that write another text
 */

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
