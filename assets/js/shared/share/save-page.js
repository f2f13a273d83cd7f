/** The run that is shown as one HTML file: the server's empty page with the run put into it. */

import { saveBlob, traceName } from "../kit/files.js";
import { base64Of, squeezed } from "./packed.js";
import { words } from "../../../text/en/share.js";

const COLOUR = 'data-colour="level"'; // this and that as hsd_core/export/run_page.py writes them
const EMPTY = '<script type="text/plain" id="hx-run"></script>';

/** @param {import("../run/trace.js").Feed} feed @param {string} colour what tokens are coloured by @returns {Promise<string>} what is to be said */
export async function savePage(feed, colour) {
  const [reply, run] = await Promise.all([
    fetch(new URL("../../../../offline.html", import.meta.url)),
    squeezed(JSON.stringify(feed.records)),
  ]);
  const empty = await reply.text();
  if (!reply.ok || !empty.includes(EMPTY)) throw new Error(words.pageFailed);
  const page = empty
    .replace(COLOUR, `data-colour="${colour}"`)
    .replace(EMPTY, EMPTY.replace("><", `>${base64Of(run)}<`));
  const name = traceName(/** @type {any} */ (feed.model?.header)).replace(/\.jsonl\.gz$/, ".html");
  return words.saved(name, saveBlob(new Blob([page], { type: "text/html" }), name));
}
