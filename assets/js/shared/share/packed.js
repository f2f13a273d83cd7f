/** A run inside a link: its trace as JSON lines, without what a replay does not need, compressed, in letters that an
 *  address may hold. What comes out of a link is opened like a file: the server checks it in the same way. */

import { OWN } from "../run/figures.js";

export const VERSION = "1";
export const LONGEST = 32_000; // characters of a link; browsers take more, mail and chat programs less
const ROWS = new Set(["p_row", "q_row", "residual"]); // what a verifier thought of all the other tokens
const afterwards = (/** @type {TraceRecord} */ r) => r.event === "report" && r.t1 === null; // read from the finished text

/** @typedef {import("../run/trace.js").TraceRecord} TraceRecord */

/**
 * A run as the part of an address behind "#": {hash, bare}; bare: without the lengths of the caches.
 * @param {TraceRecord[]} records
 * @returns {Promise<{hash: string, bare: boolean}>}
 */
export async function pack(records) {
  let hash = "";
  for (const [i, spared] of ["", "kv"].entries()) {
    const lines = records.filter((r) => !OWN.has(r.event) && !afterwards(r) && r.event !== spared).map((r) => line(r));
    hash = `#run=${VERSION}.${letters(await squeezed(lines.join("")))}`;
    if (hash.length <= LONGEST) return { hash, bare: i > 0 };
  }
  return { hash, bare: true };
}

/** @param {TraceRecord} record */
const line = (record) => `${JSON.stringify(record, (key, value) => (ROWS.has(key) ? undefined : value))}\n`;

/**
 * The run in an address: {base64} of a gzip file, {fault} where it is none of ours; null where there is none.
 * @param {string} hash
 * @returns {{base64: string}|{fault: "version"|"long"|"damaged"}|null}
 */
export function packedIn(hash) {
  if (!hash.startsWith("#run=")) return null;
  if (hash.length > 4 * LONGEST) return { fault: "long" };
  const [version, data] = hash.slice(5).split(".", 2);
  if (version !== VERSION) return { fault: "version" };
  if (!data || !/^[A-Za-z0-9_-]+$/.test(data)) return { fault: "damaged" };
  const base64 = data.replaceAll("-", "+").replaceAll("_", "/");
  return { base64: base64.padEnd(Math.ceil(base64.length / 4) * 4, "=") };
}

/** @param {string} text @returns {Promise<Uint8Array>} */
export async function squeezed(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** @param {Uint8Array} bytes */
export function base64Of(bytes) {
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
}

/** @param {Uint8Array} bytes */
const letters = (bytes) => base64Of(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
