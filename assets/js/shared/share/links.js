/** Links to what is shown: settings, a moment of a recording, or a whole run packed after the #, which no server
 *  sees until the link is opened. */

import { LONGEST_PROMPT } from "../visit/address.js";
import { RECORDED } from "../visit/journey.js";
import { words } from "../../../text/en/share.js";
import { upTo } from "../kit/order.js";
import { placeOfNumber, roundNumber } from "../kit/round-number.js";
import { OWN } from "../run/figures.js";

/** @import {Player} from "../player/player.js" @import {TraceRecord} from "../run/figures.js"
 *  @import {Feed, TraceModel} from "../run/trace.js" */

const FRAME = { width: "100%", height: "480", loading: "lazy", style: "border: 1px solid #ccc" };
const PASSING = ["at", "token", "recording", "tab", "embed"]; // of an address: not settings of a run

/** @typedef {{url: string, note: string}|{reason: string}} Link reason: why there is none
 *  @typedef {{feed: Feed, player: Player, settings: Record<string, any>,
 *    view: {selected: number|null}, alone?: boolean}} Shown alone: in a page without a server, whose runs are recordings */

const page = () => location.href.split(/[?#]/)[0]; // a file has no origin

/** @param {URLSearchParams} query */
const address = (query) => page() + (query.size ? `?${query}` : "");

/** The settings of the next run. @param {Shown} shown @returns {Link} */
export function settingsLink({ settings }) {
  const query = new URLSearchParams(location.search);
  for (const name of PASSING) query.delete(name);
  // A recording's own settings are not written beside its name; here they are what the link is for.
  const named = settings.simulated ? [] : ["preset", "stack", "prompt"];
  for (const name of named) if (settings[name]) query.set(name, String(settings[name]));
  const long = String(settings.prompt ?? "").length > LONGEST_PROMPT;
  if (long) query.delete("prompt");
  return { url: address(query), note: long ? words.promptLeftOut : words.settingsNote };
}

/** How tokens are coloured, where that is not as usual. @param {Record<string, any>} settings @returns {Record<string, string>} */
const seen = ({ colour }) => (colour && colour !== "level" ? { colour } : {});

/** The recording that is shown, at this moment, with the token whose card is open.
 *  @param {Shown} shown @param {number|null} token its serial @returns {Link} */
export function momentLink({ feed, player, settings }, token) {
  const { model, run } = feed;
  if (!model?.header) return { reason: words.nothing };
  if (!run?.startsWith(RECORDED)) return { reason: words.notShipped };
  const query = new URLSearchParams({
    recording: run.slice(RECORDED.length),
    at: momentOf(model, player.cursor),
    ...seen(settings),
  });
  const record = token === null ? null : model.tokens.get(token);
  const chosen = record && record.tCommit !== null ? record.at : null;
  if (chosen !== null) query.set("token", String(chosen));
  return { url: address(query), note: words.momentNote(String(query.get("at")), chosen) };
}

/** The run that is shown, inside the link. @param {Shown} shown @returns {Promise<Link>} */
export async function runLink({ feed, settings }) {
  if (!feed.model?.header) return { reason: words.nothing };
  if (!feed.final) return { reason: words.notOver };
  const { hash, bare } = await pack(feed.records);
  const url = address(new URLSearchParams(seen(settings))) + hash;
  if (url.length > LONGEST) return { reason: words.tooLong(url.length, LONGEST) };
  return { url, note: words.runNote(url.length, bare) };
}

/** A run in a frame of another page: the recording at this moment, or the run that a link holds. @param {Link} moment @param {Link} run @param {Shown} shown @returns {Link} */
export function embedCode(moment, run, { feed, alone }) {
  const title = feed.model?.header?.title ?? "";
  const link = "url" in moment ? moment : run;
  if (!("url" in link)) return link;
  const url = new URL(link.url);
  url.searchParams.set("embed", "1");
  const frame = document.createElement("iframe"); // in no page: nothing is fetched
  for (const [name, value] of Object.entries({ src: url.href, title: words.embedTitle(title), ...FRAME }))
    frame.setAttribute(name, value);
  return { url: frame.outerHTML, note: words.embedNote + (alone ? "" : words.embedAllowed) };
}

// A moment of a run as an address names it, ROUND.EVENT: the round counted from 1, and how many events of it have
// happened. Both stay what they are when the same run is recorded on a quicker machine; its times do not.

/** The moment under a cursor (ns). @param {TraceModel} model @param {number} cursor */
export function momentOf(model, cursor) {
  const last = model.marks[upTo(model.marks, cursor, (mark) => mark.t) - 1];
  if (!last) return "1.0";
  const happened = model.marks.filter((mark) => mark.round === last.round && mark.t <= cursor).length;
  return `${roundNumber(last.round)}.${happened}`;
}

/** When a moment is: {ns, exact}; the nearest one there is, where the run has none of that name; null for no moment.
 *  @param {TraceModel} model @param {string} text @returns {{ns: number, exact: boolean}|null} */
export function momentAt(model, text) {
  const found = /^(\d{1,7})(?:\.(\d{1,5}))?$/.exec(text);
  if (!found || !model.rounds.length) return null;
  const [number, count] = [Number(found[1]), Number(found[2] ?? 0)];
  const place = Math.min(Math.max(0, placeOfNumber(number)), model.rounds.length - 1);
  const round = model.rounds[place];
  const times = model.marks.filter((mark) => mark.round === round.round).map((mark) => mark.t);
  const exact = roundNumber(place) === number;
  const reached = roundNumber(place) < number ? times.length : Math.min(count, times.length);
  return { ns: times[reached - 1] ?? round.t0, exact: exact && reached === count };
}

/** The token at a position of the text, as its card counts: {serial, ns, exact}, ns when it was committed; the last one
 *  where the text is shorter; null where there is none. @param {TraceModel} model @param {string} text */
export function tokenAt(model, text) {
  if (!/^\d{1,7}$/.test(text) || !model.committed.length) return null;
  const place = Math.min(Number(text), model.committed.length - 1);
  return { serial: model.committed[place], ns: model.commitTimes[place], exact: place === Number(text) };
}

// A run inside a link: its trace as JSON lines, without what a replay does not need, compressed, in letters that an
// address may hold. What comes out of a link is opened like a file: the server checks it in the same way.

export const VERSION = "1";
export const LONGEST = 32_000; // characters of a link; browsers take more, mail and chat programs less
const ROWS = new Set(["p_row", "q_row", "residual"]); // what a verifier thought of all the other tokens
const afterwards = (/** @type {TraceRecord} */ r) => r.event === "report" && r.t1 === null; // read from the finished text

/** A run as the part of an address behind "#": {hash, bare}; bare: without the lengths of the caches.
 *  @param {TraceRecord[]} records @returns {Promise<{hash: string, bare: boolean}>} */
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

/** The run in an address: {base64} of a gzip file, {fault} where it is none of ours; null where there is none.
 *  @param {string} hash @returns {{base64: string}|{fault: "version"|"long"|"damaged"}|null} */
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
