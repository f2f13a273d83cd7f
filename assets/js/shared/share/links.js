/** The links that a page can hand on, and what each of them leaves out. */

import { LONGEST_PROMPT } from "../visit/address.js";
import { RECORDED } from "../visit/journey.js";
import { momentOf } from "./moment.js";
import { LONGEST, pack } from "./packed.js";
import { words } from "../../../text/en/share.js";

const FRAME = { width: "100%", height: "480", loading: "lazy", style: "border: 1px solid #ccc" };
const PASSING = ["at", "token", "recording", "tab", "embed"]; // of an address: not settings of a run

/**
 * @typedef {{url: string, note: string}|{reason: string}} Link reason: why there is none
 * @typedef {{feed: import("../run/trace.js").Feed, player: import("../player/player.js").Player, settings: Record<string, any>,
 *   view: {selected: number|null}, alone?: boolean}} Shown alone: in a page without a server, whose runs are recordings
 */

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
